;; looks for bytes that another evaluation left
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (local $at i32)
    (loop
      (if (i32.load8_u (local.get $at)) (then unreachable))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if 0 (i32.lt_u (local.get $at) (i32.const 65536))))
    (i32.store8 (i32.const 2049) (i32.const 0x6b))
    (memory.fill (i32.const 0) (i32.const 255) (i32.const 2048))
    (memory.fill (i32.const 2050) (i32.const 255) (i32.const 63486))
    (i64.const 0x200000800)))
