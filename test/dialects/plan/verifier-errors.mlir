// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has the symbol 'N' twice, or without a name}}
plan.program @symbols symbols ["N", "N"] inputs [] outputs [] {
^bb0(%a: index, %b: index):
}

// -----

// expected-error @+1 {{has 1 symbols, expected as many block arguments of type index}}
plan.program @arguments symbols ["N"] inputs [] outputs [] {
}

// -----

// expected-error @+1 {{has an entry 0 of 'inputs' without a 'name' that is a string}}
plan.program @no_name symbols [] inputs [{type = f32, dims = #tenon.shape<4>}] outputs [] {
}

// -----

// expected-error @+1 {{has an entry 0 of 'inputs' without a 'type'}}
plan.program @no_type symbols [] inputs [{name = "x", dims = #tenon.shape<4>}] outputs [] {
}

// -----

// expected-error @+1 {{has an entry 0 of 'outputs' without 'dims' that are a #tenon.shape}}
plan.program @no_dims symbols [] inputs [] outputs [{name = "x", type = f32}] {
}

// -----

// expected-error @+1 {{with 1 : i64 as its 'role', expected a #tenon.role}}
plan.program @role symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>, role = 1}] outputs [] {
}

// -----

// expected-error @+1 {{with "all" as its 'role', expected a #tenon.role}}
plan.program @unknown_role symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>, role = "all"}] outputs [] {
}

// -----

// expected-error @+1 {{with an unknown key 'rule'}}
plan.program @key symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>, rule = ""}] outputs [] {
}

// -----

// expected-error @+1 {{of a size that depends on 'N', which is no symbol of the program}}
plan.program @unknown symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<N * 2>}] outputs [] {
}

// -----

// expected-error @+1 {{has array<i64: 2, 1> as the range of 'N', expected array<i64: smallest, largest>}}
plan.program @ranges symbols [] inputs [] outputs [] attributes {ranges = {N = array<i64: 2, 1>}} {
}

// -----

// expected-error @+1 {{has invalid 'sizes': 'N' is no range; write N=128 or N=1..512}}
plan.program @sizes symbols [] inputs [] outputs [] attributes {sizes = "N"} {
}

// -----

// expected-error @+1 {{has a negative 'scratch', -1}}
plan.program @scratch symbols [] inputs [] outputs [] attributes {scratch = -1} {
}

// -----

// expected-note @+1 {{the program is here}}
plan.program @input_number symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{is number 1 of 1 inputs}}
  %x = plan.input 1 size %c
}

// -----

// expected-note @+1 {{the program is here}}
plan.program @output_number symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{is number 1 of 1 outputs}}
  %x = plan.output 1 size %c
}

// -----

plan.program @negative_size symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{has a negative size, -1}}
  %x = plan.alloc %n
}

// -----

plan.program @negative_bound symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{has a negative bound, -1}}
  %x = plan.alloc %c at_most %n
}

// -----

plan.program @second_arena symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-note @+1 {{the first one is here}}
  %a = plan.arena %c
  // expected-error @+1 {{is the second one of its program}}
  %b = plan.arena %c
}

// -----

plan.program @view_of_no_arena symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-note @+1 {{the buffer is defined here}}
  %a = plan.alloc %c
  // expected-error @+1 {{is a part of a buffer that is not the arena}}
  %v = plan.view %a[%c] size %c
}

// -----

plan.program @negative_offset symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %a = plan.arena %c
  // expected-error @+1 {{has a negative offset, -1}}
  %v = plan.view %a[%n] size %c
}

// -----

plan.program @negative_block symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{has a negative block, -1}}
  %h = plan.heap -1[%c] size %c
}

// -----

plan.program @alias_of_arena symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-note @+1 {{the buffer is defined here}}
  %a = plan.arena %c
  // expected-error @+1 {{uses the arena as a buffer; it takes a plan.view of it}}
  %v = plan.alias %a[%c] size %c
}

// -----

plan.program @weight_of_complex symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{has elements of type 'complex<f32>', expected integers or floats}}
  %w = plan.weight dense<(1.0, 2.0)> : tensor<4xcomplex<f32>>
}

// -----

plan.program @no_text symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{has no text to refuse sizes with}}
  plan.require %c ""
}

// -----

plan.program @no_text_to_end_with symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{has no text to end the run with}}
  plan.check %c "" {name = ""}
}

// -----

plan.program @written_weight symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-note @+1 {{the buffer is defined here}}
  %w = plan.weight dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{writes to a weight}}
  plan.launch @k() -> (%w) sizes() tiles %c {name = ""}
}

// -----

plan.program @written_input symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-note @+1 {{the buffer is defined here}}
  %x = plan.input 0 size %c
  %a = plan.alloc %c
  %part = plan.alias %x[%c] size %c
  // expected-error @+1 {{writes to a graph input}}
  plan.copy %a to %part size %c {name = ""}
}

// -----

plan.program @seeded_input symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-note @+1 {{the buffer is defined here}}
  %x = plan.input 0 size %c
  // expected-error @+1 {{writes to a graph input}}
  plan.run_seed %x {name = ""}
}

// -----

plan.program @negative_tiles symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{has a negative number of tiles, -1}}
  plan.launch @k() -> () sizes() tiles %n {name = ""}
}

// -----

plan.program @released_activation symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-note @+1 {{the buffer is defined here}}
  %a = plan.alloc %c
  // expected-error @+1 {{releases a buffer that is no weight}}
  plan.release %a {name = ""}
}

// -----

plan.program @reserved_input symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-note @+1 {{the buffer is defined here}}
  %x = plan.input 0 size %c
  // expected-error @+1 {{makes room in a buffer that cannot grow}}
  plan.reserve %x size %c {keep = false, name = ""}
}

// -----

// expected-note @+1 {{the program is here}}
plan.program @bound_symbol symbols ["N"] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
^bb0(%N: index):
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  // expected-error @+1 {{names symbol 1 of a program with 1}}
  plan.bind 1 = %x[0] min 0 {name = ""}
}

// -----

plan.program @negative_position symbols ["N"] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
^bb0(%N: index):
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  // expected-error @+1 {{has a negative position, -1}}
  plan.bind 0 = %x[-1] min 0 {name = ""}
}

// -----

// expected-note @+1 {{the program is here}}
plan.program @set_symbol symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  // expected-error @+1 {{names symbol 0 of a program with 0}}
  plan.set 0 = %c {name = ""}
}

// -----

plan.program @arguments_of_a_branch symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  // expected-error @+1 {{has a block with arguments, expected none}}
  plan.if %x {
  ^bb0(%i: index):
  } else {
  } {name = ""}
}

// -----

plan.program @arguments_of_a_loop symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  // expected-error @+1 {{has a block with arguments, expected none}}
  plan.loop %x {
  ^bb0(%i: index):
  } {name = ""}
}

// -----

plan.program @require_in_a_loop symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  plan.loop %x {
    // expected-error @+1 {{expects parent op 'plan.program'}}
    plan.require %c "text"
  } {name = ""}
}

// -----

plan.program @host_parameter symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  %y = plan.output 0 size %c
  // expected-error @+1 {{has a parameter 'a' that is neither numbers nor text}}
  plan.host_call "p" "d" "f"(%x) -> (%y) sizes(%c, %c)
    {parameters = {a = unit}, present = array<i1: true>, input_types = [tensor<?xf32>], result_types = [tensor<?xf32>], name = ""}
}

// -----

plan.program @host_present symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  %y = plan.output 0 size %c
  // expected-error @+1 {{has 1 inputs, which does not match 'present' or 'input_types'}}
  plan.host_call "p" "d" "f"(%x) -> (%y) sizes(%c, %c)
    {parameters = {}, present = array<i1: false>, input_types = [tensor<?xf32>], result_types = [tensor<?xf32>], name = ""}
}

// -----

plan.program @host_results symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  %y = plan.output 0 size %c
  // expected-error @+1 {{has 1 outputs, but 2 'result_types'}}
  plan.host_call "p" "d" "f"(%x) -> (%y) sizes(%c, %c)
    {parameters = {}, present = array<i1: true>, input_types = [tensor<?xf32>], result_types = [tensor<?xf32>, tensor<?xf32>], name = ""}
}

// -----

plan.program @host_inferred symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  %y = plan.output 0 size %c
  // expected-error @+1 {{infers extents into one output, found 2}}
  plan.host_call "p" "d" "f"(%x) -> (%y, %y) sizes(%c, %c)
    {parameters = {}, present = array<i1: true>, input_types = [tensor<?xf32>], result_types = [tensor<?xf32>], infers, name = ""}
}

// -----

plan.program @host_scalars symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  %y = plan.output 0 size %c
  // expected-error @+1 {{has operand types that are no ranked tensors}}
  plan.host_call "p" "d" "f"(%x) -> (%y) sizes(%c, %c)
    {parameters = {}, present = array<i1: true>, input_types = [f32], result_types = [tensor<?xf32>], name = ""}
}

// -----

plan.program @host_sizes symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<4>}] {
  %c = arith.constant 16 : index
  %n = arith.constant -1 : index
  %x = plan.input 0 size %c
  %y = plan.output 0 size %c
  // expected-error @+1 {{has 1 sizes for tensors with 2 dimensions}}
  plan.host_call "p" "d" "f"(%x) -> (%y) sizes(%c)
    {parameters = {}, present = array<i1: true>, input_types = [tensor<?xf32>], result_types = [tensor<?xf32>], name = ""}
}

// -----

func.func @no_program(%n: index) {
  // expected-error @+1 {{changes a symbol and needs a plan.program around it}}
  plan.set 0 = %n {name = ""}
  return
}

// -----

plan.program @start_without_room symbols [] inputs [] outputs [] {
  %c = arith.constant 16 : index
  %a = plan.arena %c
  // expected-error @+1 {{has only one of 'start' and 'room'}}
  %v = "plan.view"(%a, %c, %c, %c) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (!plan.buffer, index, index, index) -> !plan.buffer
}
