// What the program's own code does to memory, and what it leaves behind: faults, and the end.
#define _GNU_SOURCE // on_exit, registers of a signal's context
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/kernel.h"
#include "runtime/profile.h"
#include "runtime/recording.h"
#include "runtime/protect.h"
#include "runtime/queue.h"
#include "runtime/report.h"
#include "runtime/state.h"

// ---- Faults -----------------------------------------------------------------------------------------------

static struct sigaction previous;

// The address that the fault is about. For device addresses, which no process has, x86-64 does not tell: then
// it is in one of the registers, or near what one of them holds.
static const void *fault_address(const siginfo_t *info, const ucontext_t *context) {
    if (info->si_addr && allocation_at(info->si_addr)) return info->si_addr;
#ifdef __x86_64__
    for (int i = 0; info->si_code == SI_KERNEL && i < NGREG; i++) {
        const void *value = (const void *)context->uc_mcontext.gregs[i];
        const Allocation *a = allocation_at(value);
        if (a && !a->host) return value;
    }
#else
    (void)context;
#endif
    return info->si_addr;
}

// An instruction that is atomic for host and device alike: its turn beside a kernel's may come at any time.
static bool is_atomic(const ucontext_t *context) {
#ifdef __x86_64__
    const unsigned char lock_prefix = 0xf0;
    return *(const unsigned char *)context->uc_mcontext.gregs[REG_RIP] == lock_prefix;
#else
    (void)context;
    return false;
#endif
}

// Whether the instruction writes to the address, or only reads it.
static bool is_write(const ucontext_t *context) {
#ifdef __x86_64__
    const long long write_bit = 2; // of a page fault's error code
    return context->uc_mcontext.gregs[REG_ERR] & write_bit;
#else
    (void)context;
    return false;
#endif
}

// ---- What a fault means -----------------------------------------------------------------------------------

enum { MOST_PAGES_OPENED = 1000 };

// The host uses shared memory that work may use. With checks, what that work reads and writes is known.
static void explain_shared_checked(const Allocation *a, const void *address, const Place *place,
                                   const ucontext_t *context) {
    static int opened;
    const bool is_wrong = !is_atomic(context) && queue_report_early_use(a, address, is_write(context), place);
    if (is_wrong || ++opened % MOST_PAGES_OPENED == 0)
        protect_open(a);
    else
        protect_open_page(address);
}

// Afterwards the program continues.
static void explain_shared_unchecked(const Allocation *a, const void *address, const Place *place,
                                     const ucontext_t *context) {
    bool is_kernel;
    const Op *op = queue_user_of(a, address, &is_kernel);
    // Memory that both reach may be how host and kernel talk.
    const bool may_talk = op && is_kernel &&
                          (a->kind == MEMORY_PINNED || op->kind == OP_DECIDE || kernel_may_wait(&op->launch));
    char words[4400], where[4200];
    if (op) place_text(&op->place, where, sizeof where);
    const bool is_done = may_talk && queue_advance_number(op->number);
    protect_open(a);
    if (!op || is_atomic(context) || (may_talk && (a->kind == MEMORY_PINNED || !is_done))) return;
    allocation_words(a, words, sizeof words);
    report_host(READ_TOO_EARLY, place,
                "the host uses memory that %s of %s still works on: nothing has waited for it. Synchronise "
                "the stream, an event or the device first",
                is_kernel ? "the kernel" : "the copy", where);
    report_note("%s", words);
}

static void explain_shared(const Allocation *a, const void *address, const Place *place,
                           const ucontext_t *context) {
    runtime_lock();
    if (options()->checks)
        explain_shared_checked(a, address, place, context);
    else
        explain_shared_unchecked(a, address, place, context);
    runtime_unlock();
}

static void explain_touch(const Allocation *a, const Place *place) {
    char words[4400], where[4200];
    allocation_words(a, words, sizeof words);
    if (a->is_freed) {
        place_text(&a->released, where, sizeof where);
        report_host(USE_AFTER_FREE, place, "the host uses memory that was freed at %s", where);
    } else
        report_host(
            HOST_ACCESS, place,
            "the host reads or writes device memory, which only kernels reach: copy it with cudaMemcpy, or "
            "allocate it with cudaMallocManaged");
    report_note("%s", words);
}

static void end_program(int status, void *argument);

static void on_fault(int signal, siginfo_t *info, void *given) {
    const void *address = fault_address(info, given);
    const Allocation *a = allocation_at(address);
    Place place;
    place_here(&place);
    if (a && a->host && !a->is_freed) {
        explain_shared(a, address, &place, given);
        return;
    }
    if (a) explain_touch(a, &place);
    if (a) {
        end_program(128 + signal, NULL);
        fflush(NULL);
    }
    sigaction(signal, &previous, NULL); // the instruction runs again, and the system does what it does
}

// ---- The end ----------------------------------------------------------------------------------------------

static void report_leaks(void) {
    for (int i = 0; allocation_by_index(i); i++) {
        const Allocation *a = allocation_by_index(i);
        if (a->is_freed || a->is_of_graph || a->kind == MEMORY_VARIABLE) continue;
        if (a->process) {
            report_host(LEAK, &a->made, "%zu bytes of another process are opened here and never closed",
                        a->size);
            continue;
        }
        report_host(LEAK, &a->made, "%zu bytes of %s memory are allocated here and never freed", a->size,
                    allocation_kind_name(a));
    }
}

static void report_unseen(void) {
    Place place;
    const cudaError_t error = unseen_error(&place);
    if (!error) return;
    report_host(
        UNCHECKED, &place,
        "the call returns %s (%s), and the program ends as if all were well without a look at it: test what "
        "calls return, and cudaGetLastError() after a launch",
        error_name(error), error_text(error));
}

static void end_program(int status, void *argument) {
    (void)argument;
    static bool has_ended;
    if (has_ended) return;
    has_ended = true;
    runtime_lock();
    queue_run_all(); // what nothing waited for
    if (options()->checks && status == 0) {
        report_unseen();
        report_leaks();
    }
    profile_end();
    recording_end(status);
    report_end(status);
    runtime_unlock();
    if (!options()->exit_status || !report_count()) return;
    fflush(NULL);
    _exit(options()->exit_status);
}

// assert() and abort(): what was found until then is not lost.
static void on_abort(int signal) {
    static struct sigaction as_before; // the default
    end_program(128 + signal, NULL);
    sigaction(signal, &as_before, NULL);
}

// Runs before main and before the program's own handlers are registered.
__attribute__((constructor)) static void begin_program(void) {
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, &previous);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGABRT, &(struct sigaction){.sa_handler = on_abort}, NULL);
    on_exit(end_program, NULL);
}
