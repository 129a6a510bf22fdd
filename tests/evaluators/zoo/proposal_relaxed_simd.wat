;; computes with vectors that differ by machine
(module
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (drop (i32x4.relaxed_trunc_f32x4_s (v128.const f32x4 1 2 3 4)))
    (i64.const 0x200000800)))
