;; traps, and would answer if its memory were kept
(module
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (if (i32.load (i32.const 4096)) (then (return (i64.const 0x200000800))))
    (i32.store (i32.const 4096) (i32.const 1))
    unreachable))
