/* Numbers with a decimal point in files, in every locale of the program. */
#ifndef DB_BASE_C_LOCALE_H
#define DB_BASE_C_LOCALE_H

typedef struct db_c_locale {
    void *own;
    void *previous;
} db_c_locale;

/* From enter to leave, printf and strtod of this thread use the C locale. */
db_c_locale db_c_locale_enter(void);
void db_c_locale_leave(db_c_locale locale);

#endif
