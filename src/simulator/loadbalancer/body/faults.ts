/** A value that is of the right kind but not allowed: refused under the attribute's name. */
export class NotAllowed extends Error {}

/** A value that could not even be read: refused under the name of the whole body. */
export class Unreadable extends Error {}
