/** The way in. */
import { Link } from 'wouter'
import { useLogin } from '../../session/login.ts'
import { LoginForm } from './form.tsx'
import { Gate } from './gate.tsx'

export function LoginScreen() {
  // Somebody whose login has ended comes back to it here, where the page is a new one.
  const known = useLogin()?.user.email
  return (
    <Gate title="Log in" {...(known !== undefined && { lead: 'Your login has ended.' })}>
      <LoginForm {...(known !== undefined && { known })} />
      <p className="hint">
        Have a one-time code from the first start, or an invitation? <Link href="/join">Use it here</Link>.
      </p>
    </Gate>
  )
}
