;; recurses for ever through a table
(module
  (type $t (func (param i32) (result i64)))
  (table 1 funcref)
  (elem (i32.const 0) $down)
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func $down (export "evalspan_evaluate") (type $t)
    (i64.add (call_indirect (type $t) (local.get 0) (i32.const 0)) (i64.const 1))))
