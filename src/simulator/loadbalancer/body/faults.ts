/** A value of the right type that is not allowed. The refusal names the attribute. */
export class NotAllowed extends Error {}

/** A value that cannot be parsed. The refusal names the whole body. */
export class Unreadable extends Error {}
