;; ignores that memory does not grow and writes on
(module
  (memory (export "memory") 1)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (local $at i32)
    (loop
      (drop (memory.grow (i32.const 1)))
      (i32.store (local.get $at) (i32.const 1))
      (local.set $at (i32.add (local.get $at) (i32.const 65536)))
      (br 0))
    (i64.const 0)))
