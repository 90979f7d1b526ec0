import { IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './SidebarSection.module.css';

interface SidebarSectionProps {
  /** The `id` attribute of the section, unique on the page. */
  readonly id: string;
  readonly title: string;
  /** Number of entries in the section, shown in brackets after the title. */
  readonly count?: number;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
  readonly children: ReactNode;
}

/** A section of the sidebar below the catalogue. A user can close it to give the catalogue more space. */
export function SidebarSection({ id, title, count, isOpen, onToggle, children }: SidebarSectionProps) {
  return (
    <section id={id} className={classes.section} aria-labelledby={`${id}-title`}>
      <h2 className={classes.heading}>
        <button
          type="button"
          className={classes.button}
          aria-expanded={isOpen}
          onClick={() => onToggle(!isOpen)}
        >
          <IconChevronRight className={classes.chevron} size={16} aria-hidden />
          <span id={`${id}-title`}>{title}</span>
          {count !== undefined && <span>({count})</span>}
        </button>
      </h2>
      {isOpen && <div className={classes.content}>{children}</div>}
    </section>
  );
}
