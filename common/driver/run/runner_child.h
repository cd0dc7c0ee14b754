// The runner's side: requests in, the device's work, replies out.
#pragma once

// main() calls it for `--runner`, and exits with what it returns.
int runner_main(void);
