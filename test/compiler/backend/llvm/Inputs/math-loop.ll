; A sigmoid over `count` floats.
target triple = "x86_64-unknown-linux-gnu"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

declare float @expf(float)

define void @kernel(ptr noalias %x, ptr noalias %y, i64 %count) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %value = load float, ptr %from
  %negated = fneg float %value
  %e = call float @expf(float %negated)
  %sum = fadd float %e, 1.0
  %sigmoid = fdiv float 1.0, %sum
  %to = getelementptr float, ptr %y, i64 %i
  store float %sigmoid, ptr %to
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done

done:
  ret void
}
