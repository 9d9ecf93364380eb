import { httpStore } from './plugin.ts';

/** `http.fetch(url, options)` in templates. */
export default httpStore({ random: Math.random });
