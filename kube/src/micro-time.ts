/** The API's MicroTime. `serial` makes two of one millisecond differ. */
export function microTime(wall: number, serial: number): string {
  return new Date(wall).toISOString().replace('Z', `${String(serial % 1000).padStart(3, '0')}Z`);
}
