/* Files are written whole or not at all. */
#define _XOPEN_SOURCE 700
#include "support/expect.h"
#include "files_for_tests.h"

#include "base/atomic_file.h"

#include <dualbragg/expert/output_files.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/text_file.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void assert_content(const char *path, const char *expected) {
    size_t size;
    char *bytes = load_file(path, &size);
    assert_string_equal(bytes, expected);
    assert_int_equal(size, strlen(expected));
    free(bytes);
}

static db_status write_text(const char *path, const char *text) {
    return db_write_text(test_context(), path, text, strlen(text));
}

static void a_file_is_created_and_replaced(void **state) {
    (void)state;
    const int before = folder_count();
    const char *path = folder_path("new");
    expect_ok(test_context(), write_text(path, "first"));
    assert_content(path, "first");
    expect_ok(test_context(), write_text(path, "second, longer"));
    assert_content(path, "second, longer");
    expect_ok(test_context(), write_text(path, ""));
    assert_content(path, "");
    assert_int_equal(folder_count(), before + 1);
}

static void permissions_follow_the_umask_and_survive_replacement(void **state) {
    (void)state;
    const char *path = folder_path("mode");
    const mode_t mask = umask(027);
    expect_ok(test_context(), write_text(path, "x"));
    umask(mask);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    expect_ok(test_context(), write_text(path, "y"));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0604);
}

static void a_symbolic_link_stays_and_its_target_is_replaced(void **state) {
    (void)state;
    const char *target = folder_text("link_target", "old"), *link = folder_path("link");
    assert_int_equal(symlink("link_target", link), 0);
    expect_ok(test_context(), write_text(link, "new"));
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_content(target, "new");
}

static int is_link(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static void a_link_to_nothing_creates_its_target(void **state) {
    (void)state;
    const char *const first = folder_path("first_link"), *const second = folder_path("second_link"),
                      *const target = folder_path("linked_to");
    assert_int_equal(mkdir(folder_path("elsewhere"), 0777), 0);
    assert_int_equal(symlink("elsewhere/../second_link", first), 0);
    assert_int_equal(symlink("./linked_to", second), 0);
    expect_ok(test_context(), write_text(first, "new"));
    assert_true(is_link(first));
    assert_true(is_link(second));
    assert_false(is_link(target));
    assert_content(target, "new");
    expect_ok(test_context(), write_text(first, "newer"));
    assert_true(is_link(first));
    assert_content(target, "newer");
}

static void links_that_lead_nowhere_are_errors_and_stay(void **state) {
    (void)state;
    assert_int_equal(symlink("loop_b", folder_path("loop_a")), 0);
    assert_int_equal(symlink("loop_a", folder_path("loop_b")), 0);
    assert_int_equal(symlink("no_such_folder/file", folder_path("astray")), 0);
    const int before = folder_count();
    const char *const loop = folder_path("loop_a"), *const astray = folder_path("astray");
    expect_failure(test_context(), DB_ERROR_FILE, write_text(loop, "x"), "loop_a",
                   "Too many levels");
    expect_failure(test_context(), DB_ERROR_FILE, write_text(astray, "x"), "astray",
                   "No such file");
    assert_true(is_link(loop));
    assert_true(is_link(astray));
    assert_int_equal(folder_count(), before);
}

static void a_long_chain_of_links_is_as_the_system_takes_it(void **state) {
    (void)state;
    char name[2][32];
    snprintf(name[0], sizeof name[0], "chain_end");
    for (int i = 1; i <= 41; i++) {
        snprintf(name[i % 2], sizeof name[0], "chain_%d", i);
        assert_int_equal(symlink(name[(i + 1) % 2], folder_path(name[i % 2])), 0);
    }
    expect_ok(test_context(), write_text(folder_path("chain_40"), "x"));
    assert_content(folder_path("chain_end"), "x");
    unlink(folder_path("chain_end"));
    expect_failure(test_context(), DB_ERROR_FILE, write_text(folder_path("chain_41"), "x"),
                   "chain_41", "Too many levels");
}

static void a_pipe_gets_the_bytes_and_stays(void **state) {
    (void)state;
    const char *const path = folder_path("pipe");
    assert_int_equal(mkfifo(path, 0666), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    expect_ok(test_context(), write_text(path, "through"));
    char bytes[16] = "";
    assert_int_equal(read(reader, bytes, sizeof bytes - 1), 7);
    close(reader);
    assert_string_equal(bytes, "through");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
}

static void an_open_file_goes_on_where_it_stands(void **state) {
    (void)state;
    const char *const path = folder_text("open", "first ");
    const int descriptor = open(path, O_WRONLY | O_APPEND);
    assert_true(descriptor >= 0);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", descriptor);
    expect_ok(test_context(), write_text(name, "second "));
    const char *const link = folder_path("link_to_descriptor");
    assert_int_equal(symlink(name, link), 0);
    expect_ok(test_context(), write_text(link, "third"));
    close(descriptor);
    assert_content(path, "first second third");
    expect_failure(test_context(), DB_ERROR_FILE, write_text(name, "x"), name);
}

static void devices_are_written_directly_and_stay(void **state) {
    (void)state;
    struct stat status;
    expect_ok(test_context(), write_text("/dev/null", "gone"));
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    expect_failure(test_context(), DB_ERROR_FILE, write_text("/dev/full", "x"), "/dev/full",
                   "No space");
}

static void impossible_targets_are_errors_and_leave_nothing(void **state) {
    (void)state;
    db_context *context = test_context();
    assert_int_equal(mkdir(folder_path("folder"), 0777), 0);
    const int before = folder_count();
    expect_failure(context, DB_ERROR_FILE, write_text(folder_path("folder"), "x"), "folder",
                   "directory");
    expect_failure(context, DB_ERROR_FILE, write_text(folder_path("no/such/folder"), "x"),
                   "no/such/folder", "No such file");
    expect_failure(context, DB_ERROR_USAGE, write_text("", "x"), "file name");
    char long_name[400];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    expect_failure(context, DB_ERROR_FILE, write_text(folder_path(long_name), "x"), "too long");
    assert_int_equal(folder_count(), before);
    rmdir(folder_path("folder"));
}

/* 0: refused as it should be; 1: not; 2: this user cannot even write beside it. */
static int overwrite_protected(const char *path, const char *beside) {
    if (write_text(beside, "x") != DB_OK) return 2;
    return write_text(path, "x") == DB_ERROR_FILE &&
                   strstr(db_context_message(test_context()), "ermission")
               ? 0
               : 1;
}

static void a_write_protected_file_stays(void **state) {
    (void)state;
    enum { NOBODY = 65534 };
    const char *path = folder_text("protected", "precious");
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder_path("."), 0777), 0);
    const char *beside = folder_path("beside");
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* write protection does not bind root */
        if (geteuid() == 0 && setuid(NOBODY) != 0) _exit(2);
        _exit(overwrite_protected(path, beside));
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 2) {
        print_message("skipped: an unprivileged user cannot write here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_content(path, "precious");
}

/* The limit of the file size stands in for a full disk: write() fails half way. */
static void a_full_disk_leaves_the_old_file_and_no_other(void **state) {
    (void)state;
    const int before = folder_count() + 1;
    const char *path = folder_text("disk", "old content");
    static float pixels[100000];
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = { 65536, 65536 };
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
        const db_status status = db_write_float_image(test_context(), path, pixels, 100000);
        _exit(status == DB_ERROR_FILE &&
                      strstr(db_context_message(test_context()), "File too large")
                  ? 0
                  : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_content(path, "old content");
    assert_int_equal(folder_count(), before);
}

/* Hands over one part; what happens before the next one is asked for happens while a file is being
 * written. */
typedef struct interrupted {
    void (*meanwhile)(void);
    int asked;
} interrupted;

static db_status one_part(void *user, db_file_part *part) {
    interrupted *const state = user;
    *part = (db_file_part){ "x", 1 };
    if (!state->asked++) return DB_OK;
    state->meanwhile();
    part->size = 0;
    return DB_OK;
}

static void unfinished_files_are_removed_on_demand(void **state) {
    (void)state;
    const int before = folder_count() + 1;
    const char *path = folder_text("unfinished", "old content");
    interrupted source = { .meanwhile = db_remove_unfinished_files };
    expect_failure(test_context(), DB_ERROR_FILE,
                   db_write_atomically_from(test_context(), path, one_part, &source), "unfinished",
                   "cannot write");
    assert_content(path, "old content");
    assert_int_equal(folder_count(), before);
    db_remove_unfinished_files();
    expect_ok(test_context(), write_text(path, "new content"));
    db_remove_unfinished_files(); /* finished ones stay */
    assert_content(path, "new content");
}

static void remove_in_a_child(void) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        db_remove_unfinished_files();
        _exit(0);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
}

static void a_child_does_not_remove_the_files_of_its_parent(void **state) {
    (void)state;
    const char *path = folder_path("parent");
    interrupted source = { .meanwhile = remove_in_a_child };
    expect_ok(test_context(), db_write_atomically_from(test_context(), path, one_part, &source));
    assert_content(path, "x");
}

enum { THREADS = 4, FILES = 50 };

static void *write_many(void *name) {
    db_context *context = NULL;
    char path[256];
    long failures = db_context_create(&context) != DB_OK;
    for (int i = 0; i < FILES && !failures; i++) {
        snprintf(path, sizeof path, "%s_%d", (const char *)name, i);
        failures += db_write_text(context, path, path, strlen(path)) != DB_OK;
        failures += i % 2 && unlink(path) != 0;
    }
    db_context_destroy(&context);
    return failures ? name : NULL;
}

static void threads_write_files_at_the_same_time(void **state) {
    (void)state;
    const int before = folder_count();
    char name[THREADS][128];
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++) {
        snprintf(name[t], sizeof name[t], "%s%d", folder_path("thread_"), t);
        assert_int_equal(pthread_create(&thread[t], NULL, write_many, name[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        void *failed;
        assert_int_equal(pthread_join(thread[t], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(folder_count(), before + THREADS * FILES / 2);
}

static void a_float_image_comes_back_bit_by_bit(void **state) {
    (void)state;
    const float pixels[6] = { 0, -1.5f, 1e-40f, 3e38f, 1.0f / 3, -0.0f };
    const char *path = folder_path("float.bin");
    expect_ok(test_context(), db_write_float_image(test_context(), path, pixels, 6));
    float back[6];
    expect_ok(test_context(), db_read_float_image(test_context(), path, 3, 2, back));
    assert_memory_equal(back, pixels, sizeof pixels);
    size_t size;
    char *bytes = load_file(path, &size);
    assert_int_equal(size, 24);
    assert_memory_equal(bytes + 4, "\x00\x00\xc0\xbf", 4); /* -1.5, little-endian */
    free(bytes);
}

static void a_float_image_of_another_shape_is_refused(void **state) {
    (void)state;
    float pixels[6] = { 0 };
    const char *path = folder_path("shape.bin");
    expect_ok(test_context(), db_write_float_image(test_context(), path, pixels, 6));
    float back[8];
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_float_image(test_context(), path, 4, 2, back), "expected 32 bytes",
                   "4 x 2", "found 24");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_float_image(test_context(), path, 5, 1, back), "expected 20 bytes",
                   "found 24");
    expect_failure(test_context(), DB_ERROR_USAGE,
                   db_read_float_image(test_context(), path, 0, 2, back), "0 x 2");
    expect_failure(test_context(), DB_ERROR_FILE,
                   db_read_float_image(test_context(), folder_path("none"), 3, 2, back), "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_created_and_replaced),
        cmocka_unit_test(permissions_follow_the_umask_and_survive_replacement),
        cmocka_unit_test(a_symbolic_link_stays_and_its_target_is_replaced),
        cmocka_unit_test(a_link_to_nothing_creates_its_target),
        cmocka_unit_test(links_that_lead_nowhere_are_errors_and_stay),
        cmocka_unit_test(a_long_chain_of_links_is_as_the_system_takes_it),
        cmocka_unit_test(a_pipe_gets_the_bytes_and_stays),
        cmocka_unit_test(an_open_file_goes_on_where_it_stands),
        cmocka_unit_test(devices_are_written_directly_and_stay),
        cmocka_unit_test(impossible_targets_are_errors_and_leave_nothing),
        cmocka_unit_test(a_write_protected_file_stays),
        cmocka_unit_test(a_full_disk_leaves_the_old_file_and_no_other),
        cmocka_unit_test(unfinished_files_are_removed_on_demand),
        cmocka_unit_test(a_child_does_not_remove_the_files_of_its_parent),
        cmocka_unit_test(threads_write_files_at_the_same_time),
        cmocka_unit_test(a_float_image_comes_back_bit_by_bit),
        cmocka_unit_test(a_float_image_of_another_shape_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
