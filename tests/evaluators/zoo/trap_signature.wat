;; calls a function by another signature
(module
  (type $t (func (result i64)))
  (table 1 funcref)
  (func $f)
  (elem (i32.const 0) $f)
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (call_indirect (type $t) (i32.const 0))))
