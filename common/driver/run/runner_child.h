// The runner's side: requests in, the device's work, replies out.
#ifndef WARPBOOK_RUNNER_CHILD_H
#define WARPBOOK_RUNNER_CHILD_H

// main() calls it for `--runner`, and exits with what it returns.
int runner_main(void);

#endif
