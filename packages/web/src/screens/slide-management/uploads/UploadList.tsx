import { useSettled } from '../../../components/use-settled.ts';
import { texts } from './texts.ts';
import { UploadItem } from './UploadItem.tsx';
import classes from './UploadPanel.module.css';
import type { UploadLine } from './upload-line.ts';

/** The list of uploads. While its rows have just moved, no button removes an upload. */
export function UploadList({ lines }: { readonly lines: readonly UploadLine[] }) {
  const isSettled = useSettled(lines.map(({ key, actions }) => `${key} ${actions.join(' ')}`).join());
  return (
    <ul className={classes.list} aria-label={texts.list}>
      {lines.map((line) => (
        <UploadItem key={line.key} line={line} isSettled={isSettled} />
      ))}
    </ul>
  );
}
