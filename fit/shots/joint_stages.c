/* Stages for many shots. */
#include <dualbragg/fit_shots.h>

#include <stdio.h>
#include <string.h>

/* What follows is shared if its leader is. */
static int is_shared(const db_fit_settings *settings, const db_fit_parameter *p) {
    for (size_t l = 0; l < settings->parameter_count && p->follows >= 0; l++)
        if (db_fit_quantity_of(&settings->parameters[l]) == p->follows)
            return db_fit_parameter_is_shared(&settings->parameters[l]);
    return db_fit_parameter_is_shared(p);
}

/* Leaves what is shared out of a stage; 0: nothing is left of it. */
static int keep_local(const db_fit_settings *settings, db_fit_stage *stage) {
    int any = 0;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (is_shared(settings, p)) stage->active[db_fit_quantity_of(p)] = 0;
        any |= p->follows < 0 && stage->active[db_fit_quantity_of(p)];
    }
    return any;
}

void db_fit_settings_default_joint_stages(db_fit_settings *settings) {
    int any = 0;
    for (size_t i = 0; i < settings->parameter_count; i++)
        any |= db_fit_parameter_is_shared(&settings->parameters[i]);
    db_fit_settings_default_stages(settings);
    if (!any || settings->stage_count == 0) return;
    const db_fit_stage final = settings->stages[settings->stage_count - 1];
    size_t kept = 0;
    for (size_t s = 0; s + 1 < settings->stage_count; s++) {
        db_fit_stage stage = settings->stages[s];
        if (keep_local(settings, &stage)) settings->stages[kept++] = stage;
    }
    /* Joint twice: the first time with pixels chosen by models of the wrong detector. */
    for (int pass = 0; pass < 2; pass++) {
        db_fit_stage *const stage = &settings->stages[kept++];
        *stage = final;
        snprintf(stage->name, sizeof stage->name, "%s", pass == 0 ? "joint" : "final");
        if (pass == 1) continue;
        stage->tolerance = 1e-4;
        stage->step = 0.1;
    }
    settings->stage_count = kept;
}
