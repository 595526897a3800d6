import { statusTitle } from '../core/http/fixed-answers.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer } from '../core/service.ts';

/** The refusals of keystone with its messages. */
export function notFound(what: string, id: string): Refusal {
  return new Refusal(404, `Could not find ${what}: ${id}.`);
}

export function unauthorized(message = 'The request you have made requires authentication.'): Refusal {
  return new Refusal(401, message);
}

export function notAllowed(action: string): Refusal {
  return new Refusal(403, `You are not authorized to perform the requested action: ${action}.`);
}

export function badRequest(message: string): Refusal {
  return new Refusal(400, message);
}

/** Refusal of a body without a required part. */
export function missing(what: string, where: string): Refusal {
  return badRequest(
    `Expecting to find ${what} in ${where}. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.`,
  );
}

export function duplicate(kind: string, details: string): Refusal {
  return new Refusal(409, `Conflict occurred attempting to store ${kind} - ${details}.`);
}

export function renderRefusal(refusal: Refusal): Answer {
  return {
    status: refusal.status,
    ...(refusal.headers && { headers: refusal.headers }),
    body: { error: { code: refusal.status, message: refusal.message, title: statusTitle(refusal.status) } },
  };
}
