;; adds 128-bit integers
(module
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.add128 (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4))
    drop
    drop
    (i64.const 0x200000800)))
