import fc from 'fast-check';

/**
 * Properties are tried with the same values in every run, so that a change and not chance decides whether the tests pass.
 * `CAPSTAN_PROPERTY_SEED=random` (or a number) tries others; a failure prints the seed it was found with.
 */
const desired = process.env['CAPSTAN_PROPERTY_SEED'];
if (desired !== 'random') fc.configureGlobal({ seed: Number(desired ?? 20_261) });
