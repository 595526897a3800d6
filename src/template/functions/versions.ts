import { fits } from './constraint.ts';
import { define, type Library, text } from './function.ts';
import { Version } from './version.ts';

/** Sprig's functions of semantic versions. */
export const versionFunctions: Library = {
  semver: define('string', ([version]) => new Version(text(version))),
  semverCompare: define('string, string', ([constraint, version], { budget }) => {
    budget.spend(10);
    // Go parses the constraint first.
    const check = (wanted: string): ((given: Version) => boolean) => {
      fits(wanted, new Version('0.0.0'));
      return (given) => fits(wanted, given);
    };
    return check(text(constraint))(new Version(text(version)));
  }),
};
