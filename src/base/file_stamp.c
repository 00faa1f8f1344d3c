#define _POSIX_C_SOURCE 200809L /* st_mtim */
/* States of files. */
#include "base/file_stamp.h"

#include <sys/stat.h>
#include <time.h>

/* Some file systems count in steps of two seconds. */
enum { SETTLED = 3 };

int db_file_stamp_take(const char *path, db_file_stamp *stamp) {
    struct stat file;
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
    const time_t age = time(NULL) - file.st_mtim.tv_sec;
    *stamp = (db_file_stamp){
        .device = (unsigned long long)file.st_dev,
        .node = (unsigned long long)file.st_ino,
        .size = (unsigned long long)file.st_size,
        .seconds = { (long long)file.st_mtim.tv_sec, (long long)file.st_ctim.tv_sec },
        .nanoseconds = { (long long)file.st_mtim.tv_nsec, (long long)file.st_ctim.tv_nsec }
    };
    return age >= SETTLED;
}
