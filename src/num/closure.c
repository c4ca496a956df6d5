/* Staggered differences that end at a free surface, by summation by parts; see the header.
 *
 * From the surface inwards, h = 1: nodes at 0, 1, .., half points at 1/2, 3/2, ... Q_A has the
 * differences of what lies at nodes, Q_B those of what lies at half points; beyond the blocks given
 * here both have the staggered weights, as the rest of the grid. With the weights w, W of nodes and
 * half points
 *
 *     W^-1 Q_A and its adjoint -w^-1 Q_A^T,   w^-1 Q_B and its adjoint -W^-1 Q_B^T
 *
 * are differences of all polynomials of degree 2 and less, W^-1 Q_A and w^-1 Q_B at order 8 of
 * degree 3, too, the adjoints, which act on stresses, of those that are 0 on the surface; row 0 of
 * Q_B, where the normal stress is 0, is empty. What these conditions leave
 * open was chosen for the least error of Rayleigh waves, 6 points per shear wavelength, and for an
 * omega_max no larger than inside. Order 2 needs no blocks: its weight 1/2 of the node on the
 * surface is that of a mirror for what is odd there. test/unit/closure.c checks all of it. */
#include "htwave/num.h"

enum { NODES = HT_FD_CLOSED, HALVES = NODES - 1 };

static const struct table {
    int nodes; /* half points: one less */
    double weight[2][NODES];
    double A[HALVES][NODES], B[NODES][HALVES];
} tables[] = {
    {1, {{0.5}}, {{0}}, {{0}}},
    {5,
     {{0.32561799838590055, 1.3291332574564356, 0.7672255706486708, 1.0923437594564451,
       0.9856794140525531},
      {1.1322836378888823, 0.7281490863333591, 1.1885175803333168, 0.9510496954444517}},
     {{-1.1417096956941621, 0.967723473635366, 0.5502368395922324, -0.5690889552027933,
       0.1928383376693577},
      {-0.13133569048668806, -0.47599381631243154, 0.759697419190713, -0.2942197138307303,
       0.14185180143913928},
      {0.3867634482602687, -0.8069214590801614, -1.0883338926544592, 1.8618607891750054,
       -0.35336888570065444},
      {-0.14990521013127356, 0.26237125082712365, 0.15398417497293945, -1.4881776240132767,
       1.2633940750111516}},
     {{0},
      {-1.3515419513355775, 1.3963593390938527, -0.06722608163741259, 0.02240869387913702},
      {0.05177487726868561, -0.9225502024547222, 0.9225502024547185, -0.05177487726868131},
      {0.15022514375511356, -0.4090087645986774, -0.7666683281911051, 1.0671186157013337},
      {-0.08374171808900308, 0.23690456831956636, -0.16659672975800724, -1.069899453805889}}},
    {5,
     {{0.3307812014192439, 1.3032537360377063, 0.8138849167047977, 1.056010819467005,
       0.9960693263712521},
      {1.1359478471742377, 0.7171564584772934, 1.1995102081893827, 0.9473854861590961}},
     {{-1.1079970394535337, 0.86942610040789, 0.6318603939748237, -0.5759587785334176,
       0.1826693236042382},
      {-0.1318392134303381, -0.4836211618599011, 0.8075858492071547, -0.35410781759053933,
       0.16198234367362602},
      {0.3599115978015914, -0.7232625076354754, -1.1938797720925196, 1.9230779676957115,
       -0.37053478576930854},
      {-0.13680081601455613, 0.22732035018196814, 0.18988551220810124, -1.5176434637296479,
       1.2976550840207992}},
     {{0},
      {-1.3094443441671917, 1.3218255604261535, -0.01857182438844246, 0.00619060812948046},
      {0.00937716033984785, -0.8467038977243351, 0.856078897724331, -0.02343966033984302},
      {0.16099361653982278, -0.4319391829528059, -0.730842469847536, 1.0622047029271837},
      {-0.08205966832655129, 0.23756083135091044, -0.16928281742674897, -1.097676678930943}}},
    {6,
     {{0.33058302444631227, 1.3172237666573983, 0.7738858000184707, 1.0941697555371155,
       0.98485956667589, 0.9992780866648199},
      {1.157812499999935, 0.6157986111112705, 1.3723958333331738, 0.818229166666724,
       1.0357638888888878}},
     {{-1.0815912266691001, 0.8667270510121435, 0.45037125014287727, -0.36681378981020063,
       0.16574925848876176, -0.03444254316448368},
      {0.13271141353630125, -1.0558995188138856, 1.074746382021675, -0.06335200187855353,
       -0.1532927458451624, 0.0650864709796235},
      {0.0413604466994584, -0.10453336649188885, -1.3113812192808258, 1.4036452677757392,
       -0.03490902321476928, 0.00651543915514317},
      {-0.03669850030881029, 0.07077175670118457, 0.12477099215636954, -1.2576653588262787,
       1.2313692724703156, -0.14142093004992543},
      {0.00804202287021736, -0.03402349914823671, 0.05038379599925066, 0.0277963127133057,
       -1.2093286331666238, 1.228009837041611}},
     {{0},
      {-1.2739801100884236, 1.1991334639922253, 0.09480896858168947, -0.00832165544375177,
       -0.01164066704173961},
      {0.00675084929326174, -0.7693415001669308, 0.7204453493471495, 0.0655470599721218,
       -0.02270421380274705},
      {0.05443236672542445, -0.1653589264923951, -0.9321648549839108, 1.0566824902204703,
       -0.02246384332673304},
      {0.02439278606045399, -0.10498212955887759, 0.2238166068377353, -1.2778221490117734,
       1.2054747219819875},
      {-0.03164046658322583, 0.1279512445886121, -0.20221052617310334, 0.21055571134369216,
       -1.2300651893664512}}},
};
enum { TABLES = sizeof tables / sizeof *tables };

struct ht_fd_closure ht_fd_closure(int order, bool stresses) {
    struct ht_fd_closure c = {.nodes = 0};
    if (order % 2 != 0 || order < 2 || order > 2 * TABLES) return c;
    const struct table *t = &tables[order / 2 - 1];
    c.nodes = t->nodes;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < c.nodes - half; i++) {
            c.weight[half][i] = t->weight[half][i];
            c.over[half][i] = 1 / t->weight[half][i];
        }
    if (stresses) c.over[0][0] = 0;
    for (int i = 0; i < c.nodes; i++)
        for (int j = 0; j < c.nodes - 1; j++) {
            c.block[0][i][j] = stresses ? t->B[i][j] : -t->A[j][i];
            c.block[1][j][i] = stresses ? t->A[j][i] : -t->B[i][j];
        }
    return c;
}

int ht_fd_closed_row(const struct ht_fd_closure *closure, const struct ht_fd_weights *w, int up,
                     int64_t low, int64_t high, int offset[HT_FD_CLOSED_ROW],
                     double weight[HT_FD_CLOSED_ROW]) {
    const int rows = closure->nodes - up, n = closure->nodes - 1 + up;
    const bool lower = low < rows;
    int count = 0;
    high -= up;
    if (low >= rows && high >= rows) return -1;
    if (low < 0 || high < 0) return 0;
    const int row = (int)(lower ? low : high), first = lower ? -row : row + (up ? 1 : -1);
    for (int j = 0; j < n + w->radius; j++) {
        const int l = j - row - up;
        if (j >= n && (l < 0 || l >= w->radius)) continue;
        offset[count] = first + (lower ? j : -j);
        weight[count++] = (lower ? 1 : -1) * closure->over[up][row] *
                          (j < n ? closure->block[up][row][j] : w->first[l]);
    }
    return count;
}
