#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Exports tiny models of torchvision's and transformers' architectures, with random weights, as test cases: export.py [NAME...]

The graphs are those that exporters write for the real models: control flow, non-maximum suppression and sizes that data decides are all
there. Expected outputs are ONNX Runtime's. It needs the packages of requirements.txt; the cases that it writes need none.
"""

import collections
import functools
import json
import pathlib
import sys
import tempfile
import warnings

import numpy
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from torch import nn

warnings.simplefilter("ignore")
FOLDER = pathlib.Path(__file__).resolve().parent.parent
CHANNELS, SIZE = 8, 48


class Backbone(nn.Module):
    """Two levels of features."""

    out_channels = CHANNELS

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, CHANNELS, 7, stride=8, padding=3)
        self.second = nn.Conv2d(CHANNELS, CHANNELS, 3, stride=2, padding=1)

    def forward(self, x):
        x = torch.relu(self.first(x))
        return collections.OrderedDict([("0", x), ("1", torch.relu(self.second(x)))])


def makeDetector(name):
    from torchvision.models import detection
    from torchvision.models.detection import faster_rcnn, fcos, keypoint_rcnn, retinanet
    from torchvision.models.detection.anchor_utils import AnchorGenerator
    from torchvision.ops import MultiScaleRoIAlign

    image = {"min_size": SIZE, "max_size": SIZE}
    anchors = AnchorGenerator(((16,), (32,)), ((0.5, 1.0),) * 2)
    pool = lambda size: MultiScaleRoIAlign(["0", "1"], size, 2)
    regions = {
        "rpn_anchor_generator": anchors, "box_roi_pool": pool(3), "box_head": faster_rcnn.TwoMLPHead(CHANNELS * 9, 16),
        "rpn_pre_nms_top_n_test": 40, "rpn_post_nms_top_n_test": 12, "box_detections_per_img": 9, "box_score_thresh": 0.4, **image,
    }
    if name == "faster_rcnn":
        return detection.FasterRCNN(Backbone(), None, box_predictor=faster_rcnn.FastRCNNPredictor(16, 3), **regions)
    if name == "keypoint_rcnn":
        return detection.KeypointRCNN(
            Backbone(), None, box_predictor=faster_rcnn.FastRCNNPredictor(16, 2), keypoint_roi_pool=pool(4),
            keypoint_head=keypoint_rcnn.KeypointRCNNHeads(CHANNELS, (CHANNELS,)),
            keypoint_predictor=keypoint_rcnn.KeypointRCNNPredictor(CHANNELS, 3), **regions,
        )
    limits = {"topk_candidates": 20, "detections_per_img": 9, "score_thresh": 0.96, **image}
    if name == "retinanet":
        return retinanet.RetinaNet(Backbone(), 3, anchor_generator=anchors, **limits)
    # The head that FCOS makes by itself wants 32 channels.
    norm = functools.partial(nn.GroupNorm, 4)
    head = fcos.FCOSHead(32, 1, 3, num_convs=1)
    head.classification_head = fcos.FCOSClassificationHead(CHANNELS, 1, 3, num_convs=1, norm_layer=norm)
    head.regression_head = fcos.FCOSRegressionHead(CHANNELS, 1, num_convs=1, norm_layer=norm)
    return fcos.FCOS(Backbone(), 3, head=head, anchor_generator=AnchorGenerator(((8,), (16,)), ((1.0,),) * 2), **limits | {"score_thresh": 0.62})


def makeSpeech(name):
    import transformers

    config, model = {
        "wav2vec2": (transformers.Wav2Vec2Config, transformers.Wav2Vec2ForCTC),
        "wavlm": (transformers.WavLMConfig, transformers.WavLMForCTC),
    }[name]
    sizes = {
        "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 5,
        "conv_dim": [8, 8, 8], "conv_stride": [5, 2, 2], "conv_kernel": [10, 3, 2], "num_feat_extract_layers": 3,
        "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2, "num_buckets": 16, "max_bucket_distance": 32,
    }
    return model(config(**sizes))


DETECTORS, SPEECH = ("faster_rcnn", "keypoint_rcnn", "retinanet", "fcos"), ("wav2vec2", "wavlm")


def scaleWeights(model):
    """Scores and boxes that differ from one another, which freshly made heads do not give."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 1.5 / parameter[0].numel() ** 0.5)
            else:
                parameter.normal_(0, 0.3)


def shorten(model):
    """Short names, and nothing that says where the model was made."""
    names = {"": ""}
    kept = {value.name for value in [*model.graph.input, *model.graph.output]}
    rename = lambda name: name if name in kept else names.setdefault(name, f"v{len(names)}")

    def visit(graph):
        for tensor in graph.initializer:
            tensor.name = rename(tensor.name)
        for value in [*graph.input, *graph.output]:
            value.name = rename(value.name)
        del graph.value_info[:]
        for number, node in enumerate(graph.node):
            node.name, node.doc_string = f"{node.op_type}{number}", ""
            del node.metadata_props[:]
            node.input[:], node.output[:] = map(rename, node.input), map(rename, node.output)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    visit(attribute.g)

    visit(model.graph)
    del model.metadata_props[:]
    for value in [*model.graph.input, *model.graph.output]:
        del value.metadata_props[:]
    model.doc_string = model.graph.doc_string = model.producer_version = ""


def export(model, example, name):
    """A detector as TorchScript with a fixed image, a speech model as torch.export with dynamic sizes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        if name in DETECTORS:
            torch.onnx.export(model, ([example],), path, dynamo=False, opset_version=17, input_names=["image"])
        else:
            sizes = ({0: torch.export.Dim("batch"), 1: torch.export.Dim("samples", min=100, max=100000)},)
            torch.onnx.export(
                model, (example,), path, dynamo=True, input_names=["samples"], output_names=["logits"], dynamic_shapes=sizes, external_data=False
            )
        exported = onnx.load(path)
    shorten(exported)
    return exported


def write(name):
    torch.manual_seed(3)
    model = (makeDetector if name in DETECTORS else makeSpeech)(name).eval()
    scaleWeights(model)
    shapes = [(3, SIZE, SIZE)] * 2 if name in DETECTORS else [(2, 1200), (1, 700)]
    inputs = [(torch.rand if name in DETECTORS else torch.randn)(shape) for shape in shapes]
    if name in DETECTORS:
        inputs.append(torch.full(shapes[0], 0.45))  # As gray as images are in the mean: little is found.
    exported = export(model, inputs[0], name)
    folder = FOLDER / ("tiny_" + name)
    folder.mkdir(exist_ok=True)
    onnx.save(exported, folder / "model.onnx")
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    counts = []
    for number, x in enumerate(inputs):
        data = folder / f"test_data_set_{number}"
        data.mkdir(exist_ok=True)
        results = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(x.numpy(), session.get_inputs()[0].name).SerializeToString())
        for place, (output, result) in enumerate(zip(session.get_outputs(), results)):
            (data / f"output_{place}.pb").write_bytes(numpy_helper.from_array(result, output.name).SerializeToString())
        counts.append([list(numpy.shape(result)) for result in results])
    (folder / "data.json").write_text(json.dumps({"rtol": 1e-3, "atol": 1e-4}) + "\n")
    print(f"{name}: {(folder / 'model.onnx').stat().st_size} bytes, {len(exported.graph.node)} nodes, outputs {counts}")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or [*DETECTORS, *SPEECH]:
        write(chosen)
