;; says in its heap report that an allocation was refused, and traps
(module
  (global (export "evalspan_heap") i32 (i32.const 16))
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i32.store (i32.const 20) (i32.const 1))
    unreachable))
