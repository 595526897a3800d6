/** The simulator does not count traffic. */
export const noStats: Readonly<Record<string, number>> = {
  bytes_in: 0,
  bytes_out: 0,
  active_connections: 0,
  total_connections: 0,
  request_errors: 0,
};
