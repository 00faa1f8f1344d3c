/* Digits and the letters that pictures need, dot by dot. */
#ifndef DB_FIT_REPORT_LETTERS_H
#define DB_FIT_REPORT_LETTERS_H

enum { DB_LETTER_ADVANCE = 6, DB_LETTER_HEIGHT = 7 }; /* dots between letters, and height */

/* Calls dot for every pixel of a text whose upper left corner is x, y; a dot of a letter is `size` pixels wide.
 * Returns the end of the text. Characters without a letter are blank. */
int db_letters_draw(const char *text, int x, int y, int size, void (*dot)(void *on, int x, int y),
                    void *on);

#endif
