/* Fills the page's frame. */
#include "fit/report/report.h"

#include "base/context_internal.h"
#include "base/text_stream.h"

/* The files of fit/report/page, embedded. */
extern const char db_page_frame[], db_page_style[], db_page_script[], db_view_script[];

const db_page db_report_page = {
    .title = "dualbragg fit",
    .otherwise = "Files with the name of this page contain the results: the text log (.log), all "
                 "numbers (.json),\nthe refined model (.yaml) and, for one image, a picture of "
                 "measured and model image (.png).",
    .script = db_page_script
};
const db_page db_view_page = { .title = "dualbragg view",
                               .otherwise =
                                   "dualbragg view IMAGE -o image.png makes a picture without any.",
                               .script = db_view_script };

static void print_part(const db_page *page, const char *mark, FILE *stream) {
    const struct {
        const char *name, *text;
    } parts[] = { { "{{style}}", db_page_style },
                  { "{{script}}", page->script },
                  { "{{title}}", page->title },
                  { "{{otherwise}}", page->otherwise } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(mark, parts[i].name, strlen(parts[i].name)) == 0) fputs(parts[i].text, stream);
}

static db_status print_page(db_context *context, const db_page *page,
                            db_status (*print_data)(db_context *context, const void *of,
                                                    FILE *stream),
                            const void *of, FILE *stream) {
    const char *from = db_page_frame;
    for (const char *mark; (mark = strstr(from, "{{")) != NULL; from = strstr(mark, "}}") + 2) {
        fwrite(from, 1, (size_t)(mark - from), stream);
        if (strncmp(mark, "{{data}}", 8) == 0)
            DB_TRY(print_data(context, of, stream));
        else
            print_part(page, mark, stream);
    }
    fputs(from, stream);
    return DB_OK;
}

db_status db_page_write(db_context *context, const char *path, const db_page *page,
                        db_status (*print_data)(db_context *context, const void *of, FILE *stream),
                        const void *of) {
    db_text_stream text;
    DB_TRY(db_text_stream_open(context, &text));
    const db_status status = print_page(context, page, print_data, of, text.stream);
    return db_text_stream_write(context, &text, status, path);
}

db_status db_page_print_document(db_context *context, const char *id, db_document *document,
                                 FILE *stream) {
    fprintf(stream, "<script type=\"application/json\" id=\"%s\">", id);
    DB_TRY(db_document_print(context, document, stream));
    fputs("</script>\n", stream);
    return DB_OK;
}
