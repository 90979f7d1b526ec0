import type { ManagedImage } from '@lamina/contract';

/** Which dialog to open, and for which slides. */
export interface DialogRequest {
  readonly kind: 'edit' | 'move' | 'organ' | 'remove';
  /** Not empty. */
  readonly slides: readonly ManagedImage[];
}

/** Props of each form inside the dialog. */
export interface SlideFormProps {
  readonly slides: readonly ManagedImage[];
  readonly onClose: () => void;
  /** Called after the slides have been changed. */
  readonly onDone: () => void;
}
