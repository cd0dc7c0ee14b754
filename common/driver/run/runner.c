// The driver's side of a runner: start it, speak to it, and end it whatever state it is in.
#include "driver/run/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/process.h"
#include "support/system.h"

enum { MAX_PRINTED = 64 * 1024, ARENA_SLACK = 4096 };

// Opening a real GPU creates a context, which takes seconds on a large machine.
static const double open_seconds = 120;

struct Runner {
    RunnerPlan plan;
    pid_t pid;
    int socket, printed; // -1 when closed
    int arena_fd;
    unsigned char *arena; // of the data; images pass through it before there are any
    size_t arena_bytes;
    GpuInfo info;
    Text loaded; // by runner_load(), into the process that there is
    uint64_t sequence;
    bool is_busy;
    double deadline;
    // The reply under construction
    ReplyHeader header;
    unsigned char *rest; // findings, lines and output, as they came
    size_t wanted, received;
    bool has_header;
    Finding findings[MAX_REPLY_FINDINGS];
    ReplyLine *lines;
    char *text; // printed to stdout by a GPU's printf, or by a crash
    size_t text_bytes;
    bool text_was_cut;
};

// ---- Starting and ending ---------------------------------------------------------------------------------

// ASan and its kin reserve terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__)
static const bool can_limit_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
static const bool can_limit_memory = false;
#else
static const bool can_limit_memory = true;
#endif
#else
static const bool can_limit_memory = true;
#endif

// In the child, between fork and exec: only calls that are safe there.
static void become_runner(int socket, int arena, int printed, pid_t parent, const RunnerPlan *plan) {
    // The kernel ends this process with the driver, however that ends; the second line closes the gap before
    // it.
    system_end_with_parent(SIGKILL);
    if (getppid() != parent) _exit(3);
    // Out of the way first, so that no dup2 below closes one that is still needed.
    const int report = printed, above = RUNNER_ARENA + 1;
    socket = fcntl(socket, F_DUPFD, above);
    arena = fcntl(arena, F_DUPFD, above);
    printed = fcntl(printed, F_DUPFD, above);
    int nothing = open("/dev/null", O_RDONLY);
    if (socket < 0 || arena < 0 || printed < 0 || nothing < 0) {
        static const char why[] = "the limit on open files is too low (ulimit -n)";
        if (write(report, why, sizeof why - 1) < 0) _exit(4);
        _exit(3);
    }
    if (dup2(nothing, 0) < 0 || dup2(printed, 1) < 0 || dup2(printed, 2) < 0 ||
        dup2(socket, RUNNER_SOCKET) < 0 || dup2(arena, RUNNER_ARENA) < 0)
        _exit(3);
    close(socket);
    close(arena);
    close(printed);
    if (nothing > RUNNER_ARENA) close(nothing);
    system_limit(RLIMIT_CORE, 0);
    if (plan->kind == GPU_EMULATOR && can_limit_memory)
        system_limit(RLIMIT_AS, ((size_t)4 << 30) + (plan->arena_bytes + plan->address_bytes));
    system_run_again("warpbook-runner", "--runner");
    _exit(3);
}

static bool spawn(Runner *runner, RunReply *reply) {
    int sockets[2], pipes[2];
    runner->text_bytes = 0;
    runner->text_was_cut = false;
    if (!system_socket_pair(sockets)) {
        snprintf(reply->words, sizeof reply->words, "no socket for the runner: %s", strerror(errno));
        return false;
    }
    if (!system_pipe(pipes)) {
        snprintf(reply->words, sizeof reply->words, "no pipe for the runner: %s%s", strerror(errno),
                 errno == EMFILE ? " (ulimit -n)" : "");
        close(sockets[0]);
        close(sockets[1]);
        return false;
    }
    pid_t parent = getpid();
    fflush(NULL); // or both processes would write what is buffered
    pid_t pid = fork();
    if (pid == 0) become_runner(sockets[1], runner->arena_fd, pipes[1], parent, &runner->plan);
    close(sockets[1]);
    close(pipes[1]);
    if (pid < 0) {
        snprintf(reply->words, sizeof reply->words, "no process for the runner: %s", strerror(errno));
        close(sockets[0]);
        close(pipes[0]);
        return false;
    }
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    runner->pid = pid;
    runner->socket = sockets[0];
    runner->printed = pipes[0];
    return true;
}

// Kills the process if it still runs and reports how it ended.
static void end_process(Runner *runner, int *status) {
    if (runner->socket >= 0) close(runner->socket);
    if (runner->printed >= 0) close(runner->printed);
    runner->socket = runner->printed = -1;
    *status = 0;
    if (runner->pid > 0) {
        kill(runner->pid,
             SIGKILL); // our child process; a zombie at worst, because only this process waits for it
        while (waitpid(runner->pid, status, 0) < 0 && errno == EINTR) continue;
    }
    runner->pid = 0;
    runner->is_busy = false;
    text_free(&runner->loaded);
}

// Reads the runner's output from its pipe, so that the runner never blocks.
static void drain(Runner *runner) {
    char piece[4096];
    for (;;) {
        ssize_t got = runner->printed < 0 ? 0 : read(runner->printed, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return;
        if (got == 0) {
            if (runner->printed >= 0) close(runner->printed);
            runner->printed = -1;
            return;
        }
        size_t room = MAX_PRINTED - runner->text_bytes, keep = (size_t)got < room ? (size_t)got : room;
        memcpy(runner->text + runner->text_bytes, piece, keep);
        runner->text_bytes += keep;
        runner->text_was_cut = runner->text_was_cut || keep < (size_t)got;
    }
}

static void say_crash(Runner *runner, RunReply *reply) {
    int status = 0;
    // It closed its socket and so is about to end by itself: give it the moment to do so, or its status is
    // lost.
    for (int i = 0; i < 200; i++) {
        if (waitpid(runner->pid, &status, WNOHANG) == runner->pid) {
            runner->pid = 0;
            break;
        }
        usleep(1000);
    }
    drain(runner);
    int ignored;
    end_process(runner, runner->pid > 0 ? &status : &ignored);
    reply->end = RUN_CRASHED;
    if (WIFSIGNALED(status))
        snprintf(reply->words, sizeof reply->words, "the runner process ended by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(reply->words, sizeof reply->words, "the runner process ended with status %d",
                 WEXITSTATUS(status));
    if (runner->text_bytes > 0) {
        size_t used = strlen(reply->words), take = runner->text_bytes < 300 ? runner->text_bytes : 300;
        snprintf(reply->words + used, sizeof reply->words - used, "; it said: %.*s", (int)take, runner->text);
    }
}

// ---- Requests --------------------------------------------------------------------------------------------

static void begin(Runner *runner, const Request *request, double seconds) {
    Request complete = *request;
    complete.magic = PROTOCOL_MAGIC;
    complete.sequence = ++runner->sequence;
    complete.arena_bytes = runner->arena_bytes;
    runner->is_busy = true;
    runner->has_header = false;
    runner->received = 0;
    runner->wanted = sizeof runner->header;
    runner->deadline = monotonic_seconds() + seconds;
    const char *at = (const char *)&complete;
    size_t left = sizeof complete;
    while (left > 0) { // a few kilobytes: they fit into the socket; a dead runner is noticed when waiting
        ssize_t sent = send(runner->socket, at, left, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) break;
        at += sent;
        left -= (size_t)sent;
    }
}

void runner_begin(Runner *runner, const Request *request, double seconds) {
    Request run = *request;
    if (run.kind == 0) run.kind = REQUEST_RUN;
    begin(runner, &run, seconds);
}

// Checks a reply before it is used: every count is within its bound, and every text is terminated.
static bool header_is_sound(Runner *runner) {
    ReplyHeader *header = &runner->header;
    if (header->magic != PROTOCOL_MAGIC || header->sequence != runner->sequence) return false;
    if (header->status < REPLY_DONE || header->status > REPLY_ERROR) return false;
    if (header->finding_count < 0 || header->finding_count > MAX_REPLY_FINDINGS || header->line_count < 0 ||
        header->line_count > MAX_REPLY_LINES || header->output_bytes > MAX_REPLY_OUTPUT)
        return false;
    if (header->failed_launch < -1 || header->failed_launch >= MAX_LAUNCHES || header->damaged_buffer < -1 ||
        header->damaged_buffer >= MAX_BUFFERS || header->finding < 0 || header->finding >= FINDING_KINDS ||
        header->sample_count < 0 || header->sample_count > MAX_SAMPLES || header->dropped < 0 ||
        header->runs_per_sample < 0 || !(header->ceiling >= 0))
        return false;
    header->throttle[sizeof header->throttle - 1] = '\0';
    header->why[sizeof header->why - 1] = '\0';
    header->message[sizeof header->message - 1] = '\0';
    header->info.name[sizeof header->info.name - 1] = '\0';
    header->info.driver_version[sizeof header->info.driver_version - 1] = '\0';
    return true;
}

static bool place_is_sound(SourcePlace *place) {
    place->file[sizeof place->file - 1] = '\0';
    return place->line >= 0 && place->column >= 0 && place->call >= 0;
}

static bool rest_is_sound(Runner *runner) {
    const unsigned char *at = runner->rest;
    for (int i = 0; i < runner->header.finding_count; i++, at += sizeof(Finding)) {
        memcpy(&runner->findings[i], at, sizeof(Finding));
        Finding *finding = &runner->findings[i];
        if ((unsigned)finding->kind >= FINDING_KINDS || !place_is_sound(&finding->place) ||
            !place_is_sound(&finding->other_place))
            return false;
        finding->object[sizeof finding->object - 1] = '\0';
        finding->message[sizeof finding->message - 1] = '\0';
    }
    free(runner->lines);
    runner->lines = malloc((size_t)runner->header.line_count * sizeof(ReplyLine) + 1);
    if (!runner->lines) return false;
    memcpy(runner->lines, at, (size_t)runner->header.line_count * sizeof(ReplyLine));
    for (int i = 0; i < runner->header.line_count; i++) {
        ReplyLine *line = &runner->lines[i];
        if (line->launch < 0 || line->launch >= MAX_LAUNCHES || !place_is_sound(&line->line.place))
            return false;
    }
    return true;
}

static size_t rest_bytes(const ReplyHeader *header) {
    return (size_t)header->finding_count * sizeof(Finding) + (size_t)header->line_count * sizeof(ReplyLine) +
           header->output_bytes;
}

static void say_garbage(Runner *runner, RunReply *reply) {
    int ignored;
    end_process(runner, &ignored);
    reply->end = RUN_GARBAGE;
    snprintf(reply->words, sizeof reply->words, "the runner process sent a malformed reply");
}

// Reads what has arrived. True if the reply is complete or the runner has ended; `reply` is then filled.
static bool advance(Runner *runner, RunReply *reply) {
    for (;;) {
        unsigned char *into = runner->has_header ? runner->rest : (unsigned char *)&runner->header;
        if (runner->received < runner->wanted) {
            ssize_t got = recv(runner->socket, into + runner->received, runner->wanted - runner->received,
                               MSG_DONTWAIT);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
            if (got <= 0) {
                say_crash(runner, reply);
                return true;
            }
            runner->received += (size_t)got;
            continue;
        }
        if (!runner->has_header) {
            if (!header_is_sound(runner)) {
                say_garbage(runner, reply);
                return true;
            }
            size_t rest = rest_bytes(&runner->header);
            unsigned char *grown = realloc(runner->rest, rest + 1);
            if (!grown) {
                say_garbage(runner, reply);
                snprintf(reply->words, sizeof reply->words, "out of memory for the runner's reply");
                return true;
            }
            runner->rest = grown;
            runner->has_header = true;
            runner->received = 0;
            runner->wanted = rest;
            continue;
        }
        runner->rest[runner->wanted] = '\0';
        if (!rest_is_sound(runner)) {
            say_garbage(runner, reply);
            return true;
        }
        drain(runner);
        runner->is_busy = false;
        reply->end = RUN_REPLIED;
        reply->header = &runner->header;
        reply->findings = runner->findings;
        reply->lines = runner->lines;
        reply->output = (const char *)runner->rest + runner->wanted - runner->header.output_bytes;
        reply->output_bytes = runner->header.output_bytes;
        reply->output_was_cut = runner->text_was_cut;
        if (reply->output_bytes == 0 && runner->text_bytes > 0) { // a GPU's printf that came by stdout
            runner->text[runner->text_bytes] = '\0';
            reply->output = runner->text;
            reply->output_bytes = runner->text_bytes;
        }
        runner->text_bytes = 0;
        runner->text_was_cut = false;
        return true;
    }
}

int runners_wait(Runner *const runners[], int count, RunReply *reply) {
    struct pollfd waits[32];
    for (;;) {
        *reply = (RunReply){.end = RUN_CRASHED};
        double now = monotonic_seconds(), next = now + 3600;
        int busy = 0;
        for (int i = 0; i < count && i < 16; i++) {
            Runner *runner = runners[i];
            waits[2 * i] = (struct pollfd){.fd = -1};
            waits[2 * i + 1] = (struct pollfd){.fd = -1};
            if (!runner || !runner->is_busy) continue;
            busy++;
            if (advance(runner, reply)) return i;
            if (now >= runner->deadline) {
                int ignored;
                drain(runner);
                end_process(runner, &ignored);
                reply->end = RUN_TIMED_OUT;
                snprintf(reply->words, sizeof reply->words, "no answer within the time limit");
                return i;
            }
            if (runner->deadline < next) next = runner->deadline;
            waits[2 * i] = (struct pollfd){.fd = runner->socket, .events = POLLIN};
            waits[2 * i + 1] = (struct pollfd){.fd = runner->printed, .events = POLLIN};
        }
        if (busy == 0) return -1;
        poll(waits, 2 * (nfds_t)(count < 16 ? count : 16), (int)((next - now) * 1000) + 1);
        for (int i = 0; i < count && i < 16; i++)
            if (waits[2 * i + 1].fd >= 0 && waits[2 * i + 1].revents) drain(runners[i]);
    }
}

// ---- The public part -------------------------------------------------------------------------------------

void runner_run(Runner *runner, const Request *request, double seconds, RunReply *reply) {
    Runner *const alone[1] = {runner};
    runner_begin(runner, request, seconds);
    runners_wait(alone, 1, reply);
}

// Waits for what was begun. False if it failed.
static bool await(Runner *runner, RunReply *reply) {
    Runner *const alone[1] = {runner};
    runners_wait(alone, 1, reply);
    if (reply->end != RUN_REPLIED) {
        reply->is_machines_fault = true;
        return false;
    }
    if (reply->header->status == REPLY_DONE) return true;
    snprintf(reply->words, sizeof reply->words, "%.511s", reply->header->message);
    reply->is_machines_fault = reply->header->machines_fault != 0;
    reply->finding = (FindingKind)reply->header->finding;
    return false;
}

static bool begin_to_open(Runner *runner, RunReply *reply) {
    static Request request; // large, and used from one thread
    memset(&request, 0, sizeof request);
    request.kind = REQUEST_OPEN;
    request.gpu_kind = (int32_t)runner->plan.kind;
    memcpy(request.profile, runner->plan.profile, sizeof request.profile);
    if (!spawn(runner, reply)) {
        reply->is_machines_fault = true;
        return false;
    }
    begin(runner, &request, open_seconds);
    return true;
}

static void begin_to_load(Runner *runner, int slot, const void *image, size_t bytes, const char *name) {
    static Request request;
    memset(&request, 0, sizeof request);
    request.kind = REQUEST_LOAD;
    request.image = slot;
    request.image_bytes = bytes;
    snprintf(request.image_name, sizeof request.image_name, "%s", name ? name : "");
    memcpy(runner->arena, image, bytes);
    begin(runner, &request, open_seconds);
}

static void begin_to_load_planned(Runner *runner, int slot) {
    const RunnerPlan *plan = &runner->plan;
    begin_to_load(runner, slot, plan->images[slot].image, plan->images[slot].bytes, plan->images[slot].name);
}

// Each step is begun in all of them before it is waited for. is_good: which have not failed so far.
static void open_and_load(Runner *const runners[], int count, bool is_good[], RunReply replies[]) {
    for (int r = 0; r < count; r++)
        if (is_good[r]) is_good[r] = begin_to_open(runners[r], &replies[r]);
    for (int r = 0; r < count; r++) {
        if (is_good[r]) is_good[r] = await(runners[r], &replies[r]);
        if (is_good[r]) runners[r]->info = replies[r].header->info;
    }
    for (int i = 0; i < MAX_IMAGES; i++) {
        for (int r = 0; r < count; r++)
            if (is_good[r] && i < runners[r]->plan.image_count) begin_to_load_planned(runners[r], i);
        for (int r = 0; r < count; r++)
            if (is_good[r] && i < runners[r]->plan.image_count) is_good[r] = await(runners[r], &replies[r]);
    }
}

void runner_plan_add(RunnerPlan *plan, const Text *image, const char *name) {
    plan->images[plan->image_count].image = image->data;
    plan->images[plan->image_count].bytes = image->bytes;
    plan->images[plan->image_count++].name = name;
}

// A runner without a process.
static Runner *make(const RunnerPlan *plan, RunReply *reply) {
    *reply = (RunReply){.end = RUN_CRASHED, .is_machines_fault = true};
    Runner *runner = calloc(1, sizeof *runner);
    if (!runner) {
        snprintf(reply->words, sizeof reply->words, "out of memory");
        return NULL;
    }
    runner->plan = *plan;
    runner->socket = runner->printed = -1;
    runner->arena_bytes = plan->arena_bytes + ARENA_SLACK;
    for (int i = 0; i < plan->image_count; i++)
        if (runner->arena_bytes < plan->images[i].bytes + ARENA_SLACK)
            runner->arena_bytes = plan->images[i].bytes + ARENA_SLACK;
    runner->text = malloc(MAX_PRINTED + 1);
    runner->arena_fd = system_memory_file("warpbook-arena");
    if (runner->text && runner->arena_fd >= 0 &&
        ftruncate(runner->arena_fd, (off_t)runner->arena_bytes) == 0) {
        void *mapped =
            mmap(NULL, runner->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, runner->arena_fd, 0);
        if (mapped != MAP_FAILED) runner->arena = mapped;
    }
    if (runner->arena) return runner;
    snprintf(reply->words, sizeof reply->words, "no memory for %zu bytes of data: %s", runner->arena_bytes,
             strerror(errno));
    runner_stop(runner);
    return NULL;
}

void runners_start(const RunnerPlan *plan, int count, Runner *runners[], RunReply replies[]) {
    bool is_good[MAX_STARTED];
    for (int r = 0; r < count; r++) {
        runners[r] = make(plan, &replies[r]);
        is_good[r] = runners[r] != NULL;
    }
    open_and_load(runners, count, is_good, replies);
    for (int r = 0; r < count; r++) {
        if (!runners[r] || is_good[r]) continue;
        runner_stop(runners[r]);
        runners[r] = NULL;
        // The reply's pointers are invalid now; its texts stay.
        replies[r].header = NULL;
        replies[r].findings = NULL;
        replies[r].lines = NULL;
        replies[r].output = NULL;
    }
}

Runner *runner_start(const RunnerPlan *plan, RunReply *reply) {
    Runner *runner;
    runners_start(plan, 1, &runner, reply);
    return runner;
}

void runner_stop(Runner *runner) {
    if (!runner) return;
    int ignored;
    end_process(runner, &ignored);
    if (runner->arena) munmap(runner->arena, runner->arena_bytes);
    if (runner->arena_fd >= 0) close(runner->arena_fd);
    free(runner->rest);
    free(runner->lines);
    free(runner->text);
    free(runner);
}

bool runner_restart(Runner *runner, RunReply *reply) {
    int ignored;
    end_process(runner, &ignored);
    bool is_good = true;
    *reply = (RunReply){.end = RUN_CRASHED};
    open_and_load(&runner, 1, &is_good, reply);
    return is_good;
}

bool runner_load(Runner *runner, const Text *image, const char *name, RunReply *reply) {
    if (image->bytes > runner->arena_bytes) {
        *reply = (RunReply){.end = RUN_REPLIED, .is_machines_fault = true};
        snprintf(reply->words, sizeof reply->words, "the image has more bytes than the data");
        return false;
    }
    const Text *before = &runner->loaded;
    if (before->bytes == image->bytes && image->bytes > 0 &&
        memcmp(before->data, image->data, image->bytes) == 0)
        return true;
    text_free(&runner->loaded);
    begin_to_load(runner, 0, image->data, image->bytes, name);
    if (!await(runner, reply)) return false;
    text_add_bytes(&runner->loaded, image->data, image->bytes);
    if (runner->loaded.failed) text_free(&runner->loaded);
    return true;
}

const GpuInfo *runner_info(const Runner *runner) { return &runner->info; }
unsigned char *runner_arena(Runner *runner) { return runner->arena; }
size_t runner_arena_bytes(const Runner *runner) { return runner->plan.arena_bytes; }
size_t runner_address_bytes(const Runner *runner) { return runner->plan.address_bytes; }
