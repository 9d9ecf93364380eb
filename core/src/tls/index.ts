export { clientTlsOptions } from './client-options.ts';
export {
  hasName,
  readCredentials,
  sameAuthorities,
  type CredentialFiles,
  type Credentials,
} from './credentials.ts';
export {
  FollowedCredentials,
  type CredentialsListener,
  type FollowedOptions,
} from './followed-credentials.ts';
