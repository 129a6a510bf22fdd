;; recurses for ever
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func $down (export "evalspan_evaluate") (param i32) (result i64)
    (i64.add (call $down (local.get 0)) (i64.const 1))))
