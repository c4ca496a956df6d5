/* Signals: of the program alone, not of the library. A handler can communicate with the program
 * through static objects only (C11 7.14.1.1). This file has all variables of this kind. */
#include "app.h"

#include <signal.h>
#include <unistd.h>

/* Sent by terminals, job schedulers and limits on processor time. */
static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU};

static volatile sig_atomic_t wanted, silent;

/* A hang-up that the parent ignores (nohup) stays ignored. Libraries install handlers before main
 * (UCX for SIGHUP), so this is tested before their constructors run. */
static bool hangup_ignored;

static void find_nohup(void) {
    struct sigaction now;
    hangup_ignored = sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

#ifdef __ELF__
__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(void) = find_nohup;
#endif

static void set_one(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    if (number == SIGHUP && hangup_ignored) action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void set(void (*handler)(int)) {
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) set_one(numbers[i], handler);
}

/* Only calls that are safe in a handler (POSIX.1-2008, 2.4.3): address checks, which allocate
 * memory before a call that does not return, are not. */
#ifdef __GNUC__
__attribute__((no_sanitize_address))
#endif
static void
end(HT_UNUSED int number) {
    static const char message[] = "htwave: interrupted\n";
    ht_file_abandon();
    if (!silent && write(STDERR_FILENO, message, sizeof message - 1) < 0) _exit(1);
    _exit(1);
}

/* SIGXCPU is sent again every second. */
static void note(HT_UNUSED int number) {
    wanted = 1;
    set_one(SIGINT, SIG_DFL);
    set_one(SIGTERM, SIG_DFL);
}

void ht_stop_end(bool speak) {
#ifndef __ELF__
    find_nohup();
#endif
    silent = !speak;
    set(end);
}

static bool noted(HT_UNUSED void *context) {
    return wanted != 0;
}

void ht_stop_watch(void) {
    wanted = 0;
    set(note);
    ht_stop_by(noted, NULL);
}

enum ht_err ht_stop_unwatch(enum ht_err err) {
    set(end);
    wanted = 0;
    return err;
}
