import fc from 'fast-check';

/**
 * Property tests use the same values in every run, so that only a change of code can make them fail.
 * `CAPSTAN_PROPERTY_SEED=random` (or a number) uses others. A failure prints its seed.
 */
const desired = process.env['CAPSTAN_PROPERTY_SEED'];
if (desired !== 'random') fc.configureGlobal({ seed: Number(desired ?? 20_261) });
