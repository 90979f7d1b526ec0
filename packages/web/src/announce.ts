import { toast } from 'react-toastify';

/** Tells how an action ended. */
export function announce({
  success,
  message,
}: {
  readonly success: boolean;
  readonly message: string;
}): void {
  if (success) toast.success(message);
  else toast.error(message);
}
