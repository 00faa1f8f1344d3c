/* Completion of commands, flags and values in bash and zsh. */
#include "cli/help.h"

#include <dualbragg/parameters.h>

#include <string.h>

/* Does a flag take parameters, a list with commas? */
static int takes_parameters(const db_flag *flag) {
    return flag->arguments && strncmp(flag->arguments, "A,B,", 4) == 0;
}

static int is_offered(const db_flag_table *table, const db_flag *flag) {
    return flag->status == DB_FLAG_AVAILABLE && db_flag_is_taken(table, flag);
}

static void print_patterns(FILE *out, const db_flag *flag, const char *indent) {
    char alias[DB_FLAG_NAME_SIZE];
    fprintf(out, "%s%s", indent, flag->name);
    for (const char *rest = flag->aliases; (rest = db_next_flag_word(rest, alias));)
        fprintf(out, "|%s", alias);
    fputc(')', out);
}

/* Words after flags that take one of some: "-pivot) words="beam sample" ;;". */
static void print_values(FILE *out, const db_flag_table *table, const char *indent) {
    char words[DB_WORDS_SIZE];
    for (size_t i = 0; i < table->count; i++) {
        const db_flag *const flag = &table->flags[i];
        db_flag_argument_words(flag, words);
        if (!is_offered(table, flag) || !(*words || takes_parameters(flag))) continue;
        print_patterns(out, flag, indent);
        fputs(" values='", out);
        if (takes_parameters(flag)) {
            fputs("all", out);
            for (int p = 0; p < DB_PARAMETER_COUNT; p++)
                fprintf(out, " %s", db_parameter_describe((db_parameter)p)->name);
        } else {
            fputs(words, out);
        }
        fputs("' ;;\n", out);
    }
}

void db_print_bash_completion(FILE *out) {
    fputs("# Completion of dualbragg for bash, printed by 'dualbragg help completion bash'.\n"
          "_dualbragg() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local flags= values= prefix=\n"
          "    case ${COMP_WORDS[1]} in\n",
          out);
    for (const db_command *const *c = db_commands; *c; c++) {
        const db_flag_table *const table = (*c)->flags;
        if (!table) continue;
        fprintf(out, "    %s)\n        flags='", (*c)->name);
        for (size_t i = 0; i < table->count; i++)
            if (is_offered(table, &table->flags[i])) fprintf(out, "%s ", table->flags[i].name);
        fputs("'\n        case $before in\n", out);
        print_values(out, table, "        ");
        fputs("        esac ;;\n", out);
    }
    fputs("    esac\n    if [ \"$COMP_CWORD\" -eq 1 ] || [ \"$before\" = help ]; then\n"
          "        values='",
          out);
    for (const db_command *const *c = db_commands; *c; c++) fprintf(out, "%s ", (*c)->name);
    fputs("version'\n"
          "    elif [ \"$values\" ]; then\n"
          "        case $word in *,*) prefix=${word%,*}, ;; esac\n"
          "        word=${word##*,}\n"
          "    else\n"
          "        case $word in -*) values=$flags ;; esac\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -P \"$prefix\" -W \"$values\" -- \"$word\"))\n"
          "}\n"
          "complete -o default -F _dualbragg dualbragg\n",
          out);
}

/* Prints a text in single quotes, with zsh's special characters escaped. */
static void print_described(FILE *out, const char *name, const char *help) {
    fprintf(out, " '%s:", name);
    for (const char *c = help; *c; c++)
        *c == '\'' ? (void)fputs("'\\''", out) : (void)fputc(*c, out);
    fputc('\'', out);
}

void db_print_zsh_completion(FILE *out) {
    fputs("#compdef dualbragg\n"
          "# Completion of dualbragg for zsh, printed by 'dualbragg help completion zsh'.\n"
          "local -a commands flags\n"
          "local values\n"
          "if (( CURRENT == 2 )) || [[ $words[CURRENT-1] == help ]]; then\n"
          "    commands=(",
          out);
    for (const db_command *const *c = db_commands; *c; c++) {
        char summary[DB_SUMMARY_SIZE];
        db_command_summary(*c, summary);
        print_described(out, (*c)->name, summary);
    }
    fputs(" )\n    _describe command commands\n    return\nfi\ncase $words[2] in\n", out);
    for (const db_command *const *c = db_commands; *c; c++) {
        const db_flag_table *const table = (*c)->flags;
        if (!table) continue;
        fprintf(out, "%s)\n    flags=(", (*c)->name);
        for (size_t i = 0; i < table->count; i++) {
            char help[DB_FLAG_HELP_SIZE];
            if (!is_offered(table, &table->flags[i])) continue;
            db_flag_describe(&table->flags[i], help);
            print_described(out, table->flags[i].name, help);
        }
        fputs(" )\n    case $words[CURRENT-1] in\n", out);
        print_values(out, table, "    ");
        fputs("    esac ;;\n", out);
    }
    fputs("esac\n"
          "if [[ -n $values ]]; then\n"
          "    compset -P '*,'\n"
          "    compadd -- ${=values}\n"
          "elif [[ $words[CURRENT] == -* ]]; then\n"
          "    _describe flag flags\n"
          "else\n"
          "    _files\n"
          "fi\n",
          out);
}
