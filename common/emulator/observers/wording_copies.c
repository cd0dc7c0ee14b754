// What is wrong with bulk and tensor copies, and with what wgmma reads.
#include <inttypes.h>

#include "emulator/observers/say.h"

void word_proxy_race(Finding *finding, const char *object, uint64_t index, bool is_copy) {
    char where[32];
    say(finding,
        "starts a %s that reads %s at byte %" PRIu64 ", which a thread wrote%s, and no thread of the block "
        "has made a fence.proxy.async since: %s may read the old bytes",
        is_copy ? "bulk copy" : "wgmma.mma_async", object, index, at_line(where, finding->other_place.line),
        is_copy ? "the copy" : "it");
}

void word_unfenced_wgmma(Finding *finding) {
    say(finding,
        "multiplies with wgmma.mma_async before its warp has executed wgmma.fence: values that threads wrote "
        "to its registers may come too late (wgmma.fence.sync.aligned must come first)");
}

void word_copy_race(Finding *finding, const char *object, uint64_t index, bool is_source) {
    char where[32];
    at_line(where, finding->other_place.line);
    if (is_source)
        say(finding,
            "writes %s at byte %" PRIu64 ", which the bulk copy%s may not have read yet: "
            "cp.async.bulk.wait_group.read must come first",
            object, index, where);
    else
        say(finding,
            "writes %s at byte %" PRIu64
            ", which the bulk copy%s has yet to write: the wait for its mbarrier must "
            "come first",
            object, index, where);
}

void word_bad_copy(Finding *finding, CopyFault fault, uint32_t bytes) {
    switch (fault) {
    case COPY_SIZE:
        say(finding, "copies %u bytes, but the size of a bulk copy is a multiple of 16", bytes);
        break;
    case COPY_NOWHERE:
        say(finding, "copies to the block of rank %u, which has ended or is not in the cluster", bytes);
        break;
    case COPY_LEFT:
        say(finding,
            "starts a bulk copy of %u bytes to shared memory that is still in flight when the block ends: a "
            "thread "
            "must wait for its mbarrier",
            bytes);
        break;
    case COPY_MAP:
        say(finding, "is given a tensor map that cuTensorMapEncodeTiled has not written, or one that is "
                     "interleaved: is it "
                     "a __grid_constant__ parameter, or in constant or global memory?");
        break;
    case COPY_RANK:
        say(finding, "is given a tensor map of %u dimensions, which is not the number in its name", bytes);
        break;
    case COPY_PLACE:
        say(finding,
            "copies a box from coordinate %d of the first dimension, but a row of a box begins at a multiple "
            "of "
            "16 bytes",
            (int)bytes);
        break;
    case COPY_BEFORE:
        say(finding, "stores a box that begins before the tensor, at a coordinate of %d: a GPU refuses this",
            (int)bytes);
        break;
    case COPY_TYPE:
        say(finding, "reduces with an operation that elements of the tensor's type do not have");
        break;
    case COPY_ALIGN:
        say(finding, "copies a box at byte %u of shared memory, which is not a multiple of 128", bytes);
        break;
    case COPY_UNREAD:
        say(finding,
            "starts a bulk copy of %u bytes that may not have read its shared memory when the block ends: "
            "cp.async.bulk.wait_group.read 0 must come first",
            bytes);
        break;
    }
}
