;; fills outside memory
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (memory.fill (i32.const 65536) (i32.const 0) (i32.const 1))
    (i64.const 0)))
