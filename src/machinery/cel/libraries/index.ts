// Importing a library registers its functions.
import './authorizer.ts';
import './kubernetes.ts';
import './lists.ts';
import './network.ts';
import './standard.ts';
import './strings.ts';
