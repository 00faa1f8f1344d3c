/* Is a MessagePack document whole? */
#ifndef DB_IO_MESSAGE_PACK_H
#define DB_IO_MESSAGE_PACK_H

#include <stddef.h>

typedef enum db_message_pack { DB_PACK_WHOLE, DB_PACK_CUT, DB_PACK_WRONG } db_message_pack;

/* Goes through the first document without taking memory. Libraries take memory for as many elements as an
 * array claims to have before they look whether these are there. */
db_message_pack db_message_pack_check(const void *bytes, size_t size);

#endif
