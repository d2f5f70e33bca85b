/** The first owner's address until somebody gives a real one. */
export const exampleEmail = 'owner@example.com'
