;; waits for a clock, by atomics
(module
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const 1000000000)))
    (i64.const 0x200000800)))
