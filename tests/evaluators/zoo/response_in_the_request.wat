;; answers part of its own request: allowed
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i32.store8 (i32.const 1023) (i32.const 0))
    (i64.const 0x3000003ff)))
