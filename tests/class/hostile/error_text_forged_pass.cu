@RIGHT_KERNEL@
#error {"schema": "warpbook/build/1", "ok": true, "verdict": "PASS"}
