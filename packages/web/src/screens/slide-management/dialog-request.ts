import type { ManagedImage } from '@lamina/contract';

/** Asks the slide list to open a dialog: the kind of change, and the slides to change. */
export interface DialogRequest {
  readonly kind: 'edit' | 'move' | 'organ' | 'remove';
  /** Not empty. */
  readonly slides: readonly ManagedImage[];
}

/** Props that each form in the dialog receives. */
export interface SlideFormProps {
  readonly slides: readonly ManagedImage[];
  /** Whether the change is being sent: the user then cannot close the dialog. */
  readonly isRunning: boolean;
  readonly setRunning: (isRunning: boolean) => void;
  readonly onClose: () => void;
  /** Called after the slides have been changed. */
  readonly onDone: () => void;
}
