/* The methods: the only list of them. A row NAME is the folder src/method/NAME, which defines
 *
 *     dpl_method_NAME        in fit.c: what it asks the budget for, and how it fits (method.h)
 *     dpl_NAME_generator     in generate.c: how trips are drawn from its models
 * (sample/generator.h)
 *
 * The first is the default. */
#ifndef DPL_METHOD_LIST_H
#define DPL_METHOD_LIST_H

#define DPL_METHODS(ROW)                                                                           \
    ROW(bridge)                                                                                    \
    ROW(paper)                                                                                     \
    ROW(ngram)                                                                                     \
    ROW(adatrace)                                                                                  \
    ROW(dpt)                                                                                       \
    ROW(privtrace)                                                                                 \
    ROW(ldptrace)                                                                                  \
    ROW(sglt)

#endif
