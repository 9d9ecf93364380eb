/**
 * A mistake at a known place of a template. `{}` in the message is replaced by the text of the expression there. Becomes a
 * `RenderError`.
 */
export class SiteError extends Error {
  override readonly name = 'SiteError';
  readonly site: number;

  constructor(site: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.site = site;
  }
}

/** The deadline passed while the expression or tag of `site` ran. Becomes a `RenderTimeout`. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  readonly site: number;

  constructor(site: number) {
    super('deadline passed');
    this.site = site;
  }
}
