;; divides by zero
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.div_u (i64.const 1) (i64.extend_i32_u (i32.mul (local.get 0) (i32.const 0))))))
