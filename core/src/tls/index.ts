export { hasName, sameAuthorities, type CredentialFiles, type Credentials } from './credentials.ts';
export {
  FollowedCredentials,
  type CredentialsListener,
  type FollowedOptions,
} from './followed-credentials.ts';
