;; calls without a stack
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func $f (export "evalspan_evaluate") (param i32) (result i64)
    (return_call $f (local.get 0))))
