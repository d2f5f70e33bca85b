import { Link } from 'wouter'
import { useLogin } from '../../session/login.ts'
import { LoginForm } from './form.tsx'
import { Gate } from './gate.tsx'

export function LoginScreen() {
  // After a reload the user of an ended login returns to it here.
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
