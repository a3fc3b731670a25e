//===- Interfaces.td - what operations say about themselves ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass asks an operation by its traits and interfaces, and lists no operations
// of its own. docs/HowTo/op.md says which of them a new operation needs.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_INTERFACES_TD
#define TENON_INTERFACES_TD

include "mlir/IR/OpBase.td"

class Tenon_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::tenon";
}

class Tenon_Interface<string name> : OpInterface<name> {
  let cppNamespace = "::tenon";
}

//===----------------------------------------------------------------------===//
// Compute kinds: every operation has one (getComputeKind)
//===----------------------------------------------------------------------===//

/// A result element depends on one element of each operand. Operands broadcast against each other as in numpy: shapes
/// are aligned at the last dimension, and a dimension of 1 stretches.
def Tenon_Elementwise : Tenon_Trait<"Elementwise">;

/// A result element is computed separately, like that of an elementwise operation, but from elements at other indices:
/// moved elements, gathers, unpacked weights. `ElementEmitter` in passes/lower/tenon-to-linalg has a case for each.
def Tenon_ElementAccess : Tenon_Trait<"ElementAccess">;

/// The operation needs no kernel: it is data of the artifact, a view of its operand's memory, an instruction of the
/// plan, or structure of the IR. Some of these can also be computed within kernels (`ElementAccess`).
def Tenon_NoKernel : Tenon_Trait<"NoKernel">;

def Tenon_LoopNest : Tenon_Interface<"LoopNestOpInterface"> {
  let description = [{
    The operation combines or orders elements, so that a kernel has loops for it (a stage, which
    passes/lower/tenon-to-linalg/Stages.h writes). A kernel has one such operation, or two in a chain; all others are
    computed inside the loops that read them.

    Defaults are conservative: an operation that says nothing is fused with less.
  }];
  let methods = [
    InterfaceMethod<[{
        Which operations may be computed, element by element, while this one reads their results.
      }], "::tenon::OperandFusion", "getOperandFusion">,
    InterfaceMethod<[{
        Floating-point operations, as people count them: a multiplication and an addition for each product that is
        summed, however it is computed, or one for each element that is combined; 0 where elements are only ordered or
        moved. An expression of the symbols; INT64_MAX if there are more than that.
      }], "::mlir::AffineExpr", "countFlops">,
    InterfaceMethod<[{
        True if each element of the result may be replaced in place once it is computed, so that elementwise operations
        that follow can be part of the same kernel.
      }], "bool", "allowsEpilogue", (ins), "", "return false;">,
    InterfaceMethod<[{
        True if elements of operands are read several times, or one by one: what computes them is then better done
        before, in a kernel of its own.
      }], "bool", "rereadsOperands", (ins), "", "return false;">,
    InterfaceMethod<[{
        True if the result, where it has the type of operand `operand`, may be written to that operand's memory: no
        tile reads an element after it, or another tile, has written the one at the same place.
      }], "bool", "canOverwriteOperand", (ins "unsigned":$operand), "", "return false;">,
  ];
}

def Tenon_Composite : Tenon_Interface<"CompositeOpInterface"> {
  let description = [{
    The operation has a meaning that simpler operations lose, and a decomposition into these. `tenon-decompose` takes
    apart those that no kernel computes, which have no other compute kind, and all of them on demand.
  }];
  let methods = [
    InterfaceMethod<[{
        Writes simpler operations at the builder's insertion point, and returns the value that replaces the one result,
        of its type. Fails, before anything is written, where there is no decomposition for these operands.
      }], "::mlir::FailureOr<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

//===----------------------------------------------------------------------===//
// Elements: what it costs to compute one, and what may be said of its value
//===----------------------------------------------------------------------===//

/// Computing an element is as cheap as reading it from memory, so it may be recomputed for each use.
def Tenon_Recomputable : Tenon_Trait<"Recomputable">;

/// An element takes one or two vector instructions on any target: no function call, no division and no root.
def Tenon_SingleInstruction : Tenon_Trait<"SingleInstruction">;

/// Elementwise arithmetic that is both.
def Tenon_CheapArithmetic : TraitList<[Tenon_Recomputable, Tenon_SingleInstruction]>;

/// The result is a discontinuous function of operands that are floats: a rounding error may change an index, a choice,
/// or a value by 1.
def Tenon_Discontinuous : Tenon_Trait<"Discontinuous">;

/// The operation combines bits of the operands independently; it is a logical operation on booleans.
def Tenon_BitwiseLogic : Tenon_Trait<"BitwiseLogic">;

/// Results are copies of elements of the first operand, or of all operands if they have one type, and are stored in the
/// same element type.
def Tenon_DataMovement : Tenon_Trait<"DataMovement">;

/// Undoes the packing of a weight for a kernel that reads the packed memory itself.
def Tenon_Unpacking : Tenon_Trait<"Unpacking">;

/// The element types of operands and results are part of what the operation computes, and must not be promoted.
def Tenon_FixedElementTypes : Tenon_Trait<"FixedElementTypes">;

def Tenon_IndexMap : Tenon_Interface<"IndexMapOpInterface"> {
  let description = [{
    Each result element is an element of the first operand, at indices that follow from its own.
  }];
  let methods = [
    InterfaceMethod<[{
        The indices in the operand of the result element at `indices`.
      }], "::llvm::SmallVector<::mlir::AffineExpr>", "getSourceIndices",
      (ins "::llvm::ArrayRef<::mlir::AffineExpr>":$indices)>,
    InterfaceMethod<[{
        True if every element of the operand is one of the result, too, unless that is empty.
      }], "bool", "keepsAllElements", (ins), "", "return true;">,
  ];
}

def Tenon_ProvableIndices : Tenon_Interface<"ProvableIndicesOpInterface"> {
  let description = [{
    The operation reads or writes where an operand says, and has an attribute `in_range` that says that all indices are
    known to be in range, so that nothing is checked when the model runs.
  }];
  let methods = [
    InterfaceMethod<"Sets `in_range`.", "void", "setInRange", (ins "bool":$isInRange)>,
  ];
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

def Tenon_ExtentRequirements : Tenon_Interface<"ExtentRequirementsOpInterface"> {
  let description = [{
    Inference takes for granted of the operands' extents what cannot be known before symbols are bound.
  }];
  let methods = [
    InterfaceMethod<[{
        Adds what has to hold of extents for kernels to compute the operation: each is checked when sizes are bound.
      }], "void", "collectExtentRequirements", (ins "::tenon::ExtentRequirements &":$requirements)>,
  ];
}

def Tenon_SymbolBinder : Tenon_Interface<"SymbolBinderOpInterface"> {
  let description = "Symbols get values when the operation runs; types and attributes of later operations use them.";
  let methods = [
    InterfaceMethod<"Their names, some of which may be empty; null where there are none.", "::mlir::ArrayAttr",
                    "getSymbolsAttr">,
  ];
}

//===----------------------------------------------------------------------===//
// Instructions and memory
//===----------------------------------------------------------------------===//

/// Runs code of a kernel, of the library or of a plug-in, which writes the results to memory that the plan has chosen.
def Tenon_LaunchLike : Tenon_Trait<"LaunchLike">;

/// The operation keeps its order relative to all such operations of a block, whatever its operands and results are.
def Tenon_Ordered : Tenon_Trait<"Ordered">;

/// The result may be a view of the first operand's memory.
def Tenon_ViewLike : Tenon_Trait<"ViewLike">;

/// The value is only known at run time.
def Tenon_RunTimeOnly : Tenon_Trait<"RunTimeOnly">;

#endif // TENON_INTERFACES_TD
