import { toast } from 'react-toastify';

/** Shows the result of an action as a toast. */
export function announce({
  success,
  message,
}: {
  readonly success: boolean;
  readonly message: string;
}): void {
  if (success) toast.success(message);
  else toast.error(message, { toastId: message }); // repeated failures with the same message show one toast
}
